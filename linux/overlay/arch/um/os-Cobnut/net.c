// SPDX-License-Identifier: GPL-2.0
/*
 * eth0: the network card whose driver provides the service `nic`. Frames lie in two rings that the
 * driver shares with this server. The card's thread waits for the driver, which answers when there
 * are frames; the main thread takes them and lets it wait again.
 *
 * A driver that dies is started again and has other rings; what was in the old ones is lost, as
 * frames are. A frame that finds its ring full is dropped.
 */
#include <linux/completion.h>
#include <linux/etherdevice.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/netdevice.h>
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
		else if (!service_wait(&nic, NIC_WAIT))
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

static void take_frame(const char *frame, unsigned int size)
{
	const bool wanted = netif_running(device) && size >= ETH_HLEN && size <= FRAME_ROOM;
	struct sk_buff *skb = wanted ? netdev_alloc_skb_ip_align(device, size) : NULL;

	if (!skb) {
		device->stats.rx_dropped++;
		return;
	}
	skb_put_data(skb, frame, size);
	skb->protocol = eth_type_trans(skb, device);
	device->stats.rx_packets++;
	device->stats.rx_bytes += size;
	netif_rx(skb);
}

/* The driver's numbers are not relied on: no more frames than there are places, none too long. */
static void take_frames(void)
{
	struct frame_ring *ring = &RINGS->received;
	u32 there = READ_ONCE(ring->filled) - received;

	if (there > FRAME_SLOTS)
		return;
	for (; there; there--) {
		const unsigned int slot = received % FRAME_SLOTS;

		take_frame(ring->frames[slot], READ_ONCE(ring->sizes[slot]));
		barrier();
		WRITE_ONCE(ring->emptied, ++received);
	}
}

static irqreturn_t thread_has_called(int irq, void *unused)
{
	if (found) {
		found = false;
		take_rings();
	}
	if (attached)
		take_frames();
	L4_Set_MsgTag((L4_MsgTag_t){ .raw = 0 });
	L4_Send(thread);
	return IRQ_HANDLED;
}

/* The driver looks at the ring whenever its card interrupts, too: nobody waits for it. */
static void kick(void)
{
	L4_Set_MsgTag((L4_MsgTag_t){ .raw = NIC_KICK << 16 });
	L4_Send_Timeout(nic.driver, L4_ZeroTime);
}

static netdev_tx_t transmit(struct sk_buff *skb, struct net_device *dev)
{
	struct frame_ring *ring = &RINGS->sent;

	if (eth_skb_pad(skb))
		return NETDEV_TX_OK;
	if (!attached || sent - READ_ONCE(ring->emptied) >= FRAME_SLOTS || skb->len > FRAME_ROOM) {
		dev->stats.tx_dropped++;
	} else {
		skb_copy_bits(skb, 0, ring->frames[sent % FRAME_SLOTS], skb->len);
		ring->sizes[sent % FRAME_SLOTS] = skb->len;
		barrier();
		WRITE_ONCE(ring->filled, ++sent);
		dev->stats.tx_packets++;
		dev->stats.tx_bytes += skb->len;
		kick();
	}
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
	eth_hw_addr_set(device, (const u8 *)card.address);
	return register_netdev(device);
}
device_initcall(net_init);
