// SPDX-License-Identifier: GPL-2.0
/*
 * Draws on /dev/fb0 a pattern that shows whether each pixel is where it should be, the one of servers/paint: the upper
 * half by memory that it maps, the lower one by a process that it forks, the last line by a write. Then it says what
 * keyboard and mouse do, until q is released: a square follows the mouse while a button is held down; r draws the
 * pattern again; f forks processes that end. With an argument it ends once it has read what it has drawn.
 */
#include <fcntl.h>
#include <linux/fb.h>
#include <linux/input.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SQUARE = 8, CHILDREN = 60 };
static const unsigned colours[] = {0xFFFFFF, 0xFF0000, 0x00FF00, 0x0000FF}; /* no button, left, right, middle */

static int screen, width, height, line;
static unsigned *pixels;

static void refuse(const char *what)
{
    printf("painter: FAIL %s\n", what);
    exit(1);
}

static unsigned pattern(int x, int y) { return (x & 0xFF) << 16 | (y & 0xFF) << 8 | x >> 8; }

static void draw(int from, int to)
{
    for (int y = from; y < to; y++)
        for (int x = 0; x < width; x++) pixels[y * (line / 4) + x] = pattern(x, y);
}

static void paint(void)
{
    static unsigned last[4096];
    int status;

    draw(0, height / 2);
    fflush(stdout);
    if (!fork()) {
        draw(height / 2, height - 1);
        _exit(0);
    }
    wait(&status);
    for (int x = 0; x < width; x++) last[x] = pattern(x, height - 1);
    if (pwrite(screen, last, width * 4, (height - 1) * line) != width * 4) refuse("write");
}

static int is_painted(void)
{
    static unsigned row[4096];

    for (int y = 0; y < height; y++) {
        if (pread(screen, row, width * 4, y * line) != width * 4) refuse("read");
        for (int x = 0; x < width; x++)
            if ((row[x] & 0xFFFFFF) != pattern(x, y)) return 0;
    }
    return 1;
}

static void begin(void)
{
    struct fb_var_screeninfo var;
    struct fb_fix_screeninfo fix;

    screen = open("/dev/fb0", O_RDWR);
    if (screen < 0 || ioctl(screen, FBIOGET_VSCREENINFO, &var) || ioctl(screen, FBIOGET_FSCREENINFO, &fix))
        refuse("/dev/fb0");
    if (var.bits_per_pixel != 32 || var.red.offset != 16 || var.green.offset != 8 || var.blue.offset)
        refuse("pixels are not 0x00RRGGBB");
    width = var.xres;
    height = var.yres;
    line = fix.line_length;
    pixels = mmap(NULL, fix.smem_len, PROT_READ | PROT_WRITE, MAP_SHARED, screen, 0);
    if (pixels == MAP_FAILED) refuse("mmap");
    printf("painter: %d x %d\n", width, height);
}

static int within(int value, int size) { return value < 0 ? 0 : value > size - SQUARE ? size - SQUARE : value; }

static int x, y, buttons;

static void show_mouse(void)
{
    const int colour = buttons & 1 ? 1 : buttons & 2 ? 2 : buttons & 4 ? 3 : 0;

    for (int row = y; colour && row < y + SQUARE; row++)
        for (int column = x; column < x + SQUARE; column++) pixels[row * (line / 4) + column] = colours[colour];
    printf("painter: mouse %d %d buttons %d\n", x, y, buttons);
}

static void fork_children(void)
{
    for (int i = 0; i < CHILDREN; i++) {
        int status;

        fflush(stdout);
        if (!fork()) _exit(0);
        wait(&status);
    }
    printf("painter: forked\n");
}

/* One event; true at the end. */
static int take(const struct input_event *e)
{
    static const char *ways[] = {"up", "down", "held"};

    if (e->type == EV_REL && e->code == REL_X) x = within(x + e->value, width);
    if (e->type == EV_REL && e->code == REL_Y) y = within(y + e->value, height);
    if (e->type != EV_KEY) return 0;
    if (e->code >= BTN_LEFT && e->code <= BTN_MIDDLE) {
        const int bit = 1 << (e->code - BTN_LEFT);

        buttons = e->value ? buttons | bit : buttons & ~bit;
        return 0;
    }
    if (e->value < 2) printf("painter: key %d %s\n", e->code, ways[e->value]);
    if (e->value) return 0;
    if (e->code == KEY_R) paint(), printf("painter: painted\n");
    if (e->code == KEY_F) fork_children();
    return e->code == KEY_Q;
}

static int follow(void)
{
    struct pollfd devices[] = {
        {open("/dev/input/event0", O_RDONLY), POLLIN}, /* keyboard */
        {open("/dev/input/event1", O_RDONLY), POLLIN}, /* mouse */
    };
    struct input_event e;

    if (devices[0].fd < 0 || devices[1].fd < 0) refuse("/dev/input");
    printf("painter: ready\n");
    while (poll(devices, 2, -1) > 0)
        for (int i = 0; i < 2; i++) {
            if (!(devices[i].revents & POLLIN)) continue;
            if (read(devices[i].fd, &e, sizeof e) != sizeof e) refuse("read of events");
            if (take(&e)) return 0;
            if (i == 1 && e.type == EV_SYN) show_mouse();
        }
    return 1;
}

int main(int argc, char **argv)
{
    setlinebuf(stdout);
    begin();
    paint();
    if (argc < 2) return follow();
    printf("painter: %s\n", is_painted() ? "read as drawn" : "FAIL read as drawn");
    return 0;
}
