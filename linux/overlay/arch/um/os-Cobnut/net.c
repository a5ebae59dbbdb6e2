// SPDX-License-Identifier: GPL-2.0
/*
 * eth0: the network card whose driver provides the service `nic`. Frames lie in two rings that the
 * driver shares with this server. The card's thread waits for the driver, which answers when there
 * are frames, or room that is waited for; the main thread takes them and lets it wait again.
 *
 * A driver that dies is started again and has other rings; what was in the old ones is lost, as
 * frames are. While the ring of frames to be sent is full Linux keeps them.
 */
#include <linux/completion.h>
#include <linux/etherdevice.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/netdevice.h>
#include <linux/timer.h>
#include <net/checksum.h>
#include "cobnut.h"

#define RINGS		((struct nic_memory *)(DEVICES_START + 0x100000))
#define RESTART_US	10000
#define FIRST_SECONDS	10	/* for the first driver to find its card */

static unsigned char stack[4096] __aligned(16);
static L4_ThreadId_t thread;
static struct service nic = { .name = SERVICE_NIC };

/* From the card's thread: another driver's card. */
static struct {
	L4_Word_t address[2], handle, at;
} card;
static volatile bool found;

/* the main thread's own */
static struct net_device *device;
static bool attached;
static u32 received, sent;	/* frames, in the rings that are attached */
static DECLARE_COMPLETION(first);
static struct napi_struct napi;

static void kick_again(struct timer_list *unused);
static DEFINE_TIMER(later, kick_again);

static void tell_main(void)
{
	events_tell(PENDING_NET);
	L4_Receive(main_thread);
}

static bool find_driver(void)
{
	if (service_find(&nic) ||
	    service_call(nic.driver, NIC_BEGIN, 0, NULL, sizeof(card) / 4, (L4_Word_t *)&card)) {
		nic.driver = L4_nilthread;
		return false;
	}
	found = true;
	tell_main();
	return true;
}

static void card_thread(void)
{
	L4_Accept(L4_UntypedWordsAcceptor);
	for (;;) {
		if (L4_IsNilThread(nic.driver) && !find_driver())
			L4_Sleep(L4_TimePeriod(RESTART_US));
		else if (!service_wait(&nic, NIC_WAIT, 0, NULL))
			tell_main();
		else
			nic.driver = L4_nilthread;
	}
}

static void take_rings(void)
{
	if (attached)
		service_detach((L4_Word_t)RINGS);
	attached = !service_attach(card.handle, (L4_Word_t)RINGS);
	if (!attached)
		return;
	received = RINGS->received.emptied;
	sent = RINGS->sent.filled;
	complete(&first);
}

static irqreturn_t thread_has_called(int irq, void *unused)
{
	if (found) {
		found = false;
		take_rings();
	}
	napi_schedule(&napi);
	return IRQ_HANDLED;
}

/* Its checksum is taken where its bytes are in the cache: nobody has to look at all of it again. */
static void take_frame(const char *frame, unsigned int size)
{
	const bool wanted = netif_running(device) && size >= ETH_HLEN && size <= FRAME_ROOM;
	struct sk_buff *skb = wanted ? napi_alloc_skb(&napi, size) : NULL;
	char *to;

	if (!skb) {
		device->stats.rx_dropped++;
		return;
	}
	to = skb_put(skb, size);
	memcpy(to, frame, ETH_HLEN);
	skb->csum = csum_partial_copy_nocheck(frame + ETH_HLEN, to + ETH_HLEN, size - ETH_HLEN);
	skb->ip_summed = CHECKSUM_COMPLETE;
	skb->protocol = eth_type_trans(skb, device);
	device->stats.rx_packets++;
	device->stats.rx_bytes += size;
	napi_gro_receive(&napi, skb);
}

/* The driver's numbers are not relied on: no more frames than there are places, none too long. */
static int take_frames(int most)
{
	struct frame_ring *ring = &RINGS->received;
	int taken;

	for (taken = 0; taken < most; taken++) {
		const unsigned int slot = received % FRAME_SLOTS;
		const u32 there = READ_ONCE(ring->filled) - received;

		if (!there || there > FRAME_SLOTS)
			break;
		take_frame(ring->frames[slot], READ_ONCE(ring->sizes[slot]));
		barrier();
		WRITE_ONCE(ring->emptied, ++received);
	}
	return taken;
}

static bool is_room(void)
{
	return attached && sent - READ_ONCE(RINGS->sent.emptied) < FRAME_SLOTS;
}

/* Frames that have come, and room for others; then the card's thread waits again. */
static int poll(struct napi_struct *unused, int most)
{
	const int taken = attached ? take_frames(most) : 0;

	if (netif_queue_stopped(device) && is_room())
		netif_wake_queue(device);
	if (taken < most && napi_complete_done(&napi, taken)) {
		L4_Set_MsgTag((L4_MsgTag_t){ .raw = 0 });
		L4_Send(thread);
	}
	return taken;
}

/*
 * Nobody waits for the driver. One that does not wait either looks at the ring before it does; but
 * if it had to let others run between the two, it may have missed this frame.
 */
static void kick(void)
{
	L4_Set_MsgTag((L4_MsgTag_t){ .raw = NIC_KICK << 16 });
	if (L4_IpcFailed(L4_Send_Timeout(nic.driver, L4_ZeroTime)))
		mod_timer(&later, jiffies + 1);
}

static void kick_again(struct timer_list *unused)
{
	if (attached && READ_ONCE(RINGS->sent.emptied) != sent)
		kick();
}

/* No frame is taken that has no room: the driver tells when there is some. */
static void wait_for_room(void)
{
	netif_stop_queue(device);
	if (!attached)
		return;
	WRITE_ONCE(RINGS->sent.tell, 1);
	barrier();
	if (is_room())
		netif_start_queue(device);
}

static void fill(struct sk_buff *skb)
{
	struct frame_ring *ring = &RINGS->sent;
	const unsigned int slot = sent % FRAME_SLOTS;

	skb_copy_and_csum_dev(skb, ring->frames[slot]);
	ring->sizes[slot] = skb->len;
	barrier();
	WRITE_ONCE(ring->filled, ++sent);
}

static netdev_tx_t transmit(struct sk_buff *skb, struct net_device *dev)
{
	if (eth_skb_pad(skb))
		return NETDEV_TX_OK;
	if (!is_room()) {	/* the ring was taken away: its driver has died */
		wait_for_room();
		return NETDEV_TX_BUSY;
	}
	if (skb->len > FRAME_ROOM) {
		dev->stats.tx_dropped++;
	} else {
		fill(skb);
		dev->stats.tx_packets++;
		dev->stats.tx_bytes += skb->len;
	}
	if (!is_room())
		wait_for_room();
	if (!netdev_xmit_more() || netif_queue_stopped(dev))
		kick();
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops operations = {
	.ndo_start_xmit = transmit,
	.ndo_validate_addr = eth_validate_addr,
};

static int __init net_init(void)
{
	int err;

	if (!service_exists(SERVICE_NIC))
		return 0;
	device = alloc_etherdev(0);
	if (!device)
		return -ENOMEM;
	netif_napi_add(device, &napi, poll);
	napi_enable(&napi);	/* also while the interface is down: the card's thread waits for it */
	err = request_irq(NET_IRQ, thread_has_called, 0, "eth0", NULL);
	if (err)
		return err;
	if (service_thread(card_thread, stack, sizeof(stack), &thread))
		return -ENOMEM;
	if (!wait_for_completion_timeout(&first, FIRST_SECONDS * HZ)) {
		pr_err("eth0: the card's driver has none\n");
		return -ENODEV;
	}
	device->netdev_ops = &operations;
	/* what TCP sends comes in large pieces, and is cut and summed up on its way to the ring */
	device->features |= NETIF_F_SG | NETIF_F_HW_CSUM;
	device->hw_features |= NETIF_F_SG | NETIF_F_HW_CSUM;
	eth_hw_addr_set(device, (const u8 *)card.address);
	return register_netdev(device);
}
device_initcall(net_init);
