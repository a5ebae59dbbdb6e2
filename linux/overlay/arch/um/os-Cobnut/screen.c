// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/fb0: the display whose driver provides the service `display`. Programs map its own memory,
 * so what they draw is seen at once, and the driver has nothing to do for it. The screen's thread
 * finds the driver, and asks it now and then whether it is still there.
 *
 * A driver that dies is started again, and gives a memory that is black. Until then root has a page
 * in its place that nobody sees.
 */
#include <linux/completion.h>
#include <linux/fb.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include "cobnut.h"

#define RESTART_US	10000
#define LOOK_US		500000
#define FIRST_SECONDS	10	/* for the first driver to find its display */
#define PIXEL		4	/* bytes, 0x00RRGGBB */

static unsigned char stack[4096] __aligned(16);
static L4_ThreadId_t thread;
static struct service display = { .name = SERVICE_DISPLAY };

/* From the screen's thread: what the driver shows. */
static struct {
	L4_Word_t handle, width, height, line;
} mode;
static int error;	/* that the driver has had */

/* the main thread's own */
static bool attached;
static DECLARE_COMPLETION(first);

/* Has the main thread show another driver's memory; whether it could. */
static bool tell_main(void)
{
	events_tell(PENDING_SCREEN);
	L4_Receive(main_thread);
	return attached;
}

static bool find_driver(void)
{
	const L4_Word_t size[2] = { server_boot->screen_width, server_boot->screen_height };

	error = service_find(&display);
	if (!error)
		error = service_call(display.driver, DISPLAY_SET_MODE, 2, size, sizeof(mode) / 4,
				     (L4_Word_t *)&mode);
	return !error && tell_main();
}

static bool is_there(void)
{
	const L4_Word_t all[4] = { 0, 0, mode.width, mode.height };

	return !service_call(display.driver, DISPLAY_SHOW, 4, all, 0, NULL);
}

static void screen_thread(void)
{
	L4_Accept(L4_UntypedWordsAcceptor);
	for (;;) {
		if (!find_driver()) {
			L4_Sleep(L4_TimePeriod(RESTART_US));
			continue;
		}
		do
			L4_Sleep(L4_TimePeriod(LOOK_US));
		while (is_there());
	}
}

/* What was mapped there before, in programs, too, goes; all of it comes again where it is touched. */
static irqreturn_t driver_found(int irq, void *unused)
{
	const unsigned long start = server_boot->screen_start;

	if (attached)
		service_detach(start);
	L4_Flush(L4_FpageAddRights(L4_FpageLog2(start, SCREEN_LOG2), L4_FullyAccessible));
	attached = !service_attach(mode.handle, start);
	if (attached)
		complete(&first);
	L4_Set_MsgTag((L4_MsgTag_t){ .raw = 0 });
	L4_Send(thread);
	return IRQ_HANDLED;
}

/* Of a palette, for which programs ask whether there is one or not: a pixel is its colour. */
static int set_colour(unsigned int number, unsigned int red, unsigned int green, unsigned int blue,
		      unsigned int transparency, struct fb_info *info)
{
	return 0;
}

/* There is no console of Linux's own on it, which alone would have the kernel draw. */
static const struct fb_ops operations = {
	.fb_setcolreg = set_colour,
};

static int __init add(void)
{
	struct fb_info *info = framebuffer_alloc(0, NULL);

	if (!info)
		return -ENOMEM;
	info->fbops = &operations;
	info->screen_base = (char __iomem *)server_boot->screen_start;
	info->screen_size = mode.line * mode.height;
	info->fix = (struct fb_fix_screeninfo){
		.id = "Cobnut",
		.smem_start = __pa(server_boot->screen_start),
		.smem_len = PAGE_ALIGN(mode.line * mode.height),
		.type = FB_TYPE_PACKED_PIXELS,
		.visual = FB_VISUAL_TRUECOLOR,
		.line_length = mode.line,
	};
	info->var = (struct fb_var_screeninfo){
		.xres = mode.width,
		.yres = mode.height,
		.xres_virtual = mode.width,
		.yres_virtual = mode.height,
		.bits_per_pixel = PIXEL * 8,
		.red = { .offset = 16, .length = 8 },
		.green = { .offset = 8, .length = 8 },
		.blue = { .offset = 0, .length = 8 },
	};
	return register_framebuffer(info);
}

static int __init screen_init(void)
{
	int err;

	if (!server_boot->screen_width || !service_exists(SERVICE_DISPLAY))
		return 0;
	err = request_irq(SCREEN_IRQ, driver_found, 0, "fb0", NULL);
	if (err)
		return err;
	if (service_thread(screen_thread, stack, sizeof(stack), &thread))
		return -ENOMEM;
	if (!wait_for_completion_timeout(&first, FIRST_SECONDS * HZ)) {
		pr_err("fb0: no display shows %ux%u (error %d)\n", server_boot->screen_width,
		       server_boot->screen_height, error);
		return -ENODEV;
	}
	return add();
}
device_initcall(screen_init);
