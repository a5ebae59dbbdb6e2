/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The services that the server uses, for C: of servers/interfaces, where each operation has its
 * meaning, what it takes. linux/root/services.cc holds both to be the same.
 */
#ifndef COBNUT_LINUX_SERVICES_H
#define COBNUT_LINUX_SERVICES_H

#define SERVICE_DISK "disk"
#define SERVICE_NIC "nic"
#define SERVICE_DISPLAY "display"
#define SERVICE_INPUT "input"

enum service_operations {
    /* of root's, as init's (servers/interfaces/init.h) */
    INIT_OPEN = 0x10, /* name; the server's thread */
    INIT_CREATE = 0x20, /* pages; a handle */
    INIT_ATTACH = 0x22, /* handle, address, writable; the address */
    INIT_DETACH = 0x23, /* address */
    INIT_PASS = 0x24, /* handle, thread, writable */
    INIT_MAKE_THREAD = 0x40, /* ip, sp; its id */
    /* of a disk's driver (servers/interfaces/disk.h) */
    DISK_OPEN = 0x100, /* name; number of the part, blocks */
    DISK_BUFFER = 0x101, /* handle */
    DISK_READ = 0x102, /* part, block, count, offset in the buffer */
    DISK_WRITE = 0x103,
    DISK_FLUSH = 0x104, /* part */
    /* of a network card's driver (servers/interfaces/nic.h) */
    NIC_BEGIN = 0x100, /* nothing; the address in two words, the rings' handle, where they are to be */
    NIC_WAIT = 0x101, /* nothing */
    NIC_KICK = 0x102, /* nothing; it has no answer */
    /* of a display's driver (servers/interfaces/display.h) */
    DISPLAY_SET_MODE = 0x100, /* width, height; the memory's handle, width, height, bytes of a line */
    DISPLAY_SHOW = 0x101, /* x, y, width, height */
    /* of the driver of keyboard and mouse (servers/interfaces/input.h) */
    INPUT_READ = 0x100, /* nothing; struct input_events */
};

/* The errors, of libs/rpc, that make a difference. */
enum service_errors { SERVICE_DEAD = 1, SERVICE_NOT_FOUND = 5, SERVICE_NOT_RUNNING = 9 };

#define DISK_BLOCK 512 /* bytes */
#define DISK_MOST_BLOCKS 128 /* of one call */
#define SERVICE_PAGE 4096 /* of a dataspace, bytes */

#define FRAME_SLOTS 64
#define FRAME_ROOM 2048 /* bytes of a frame, without its checksum */

/* The memory that is shared with a network card's driver. */
struct frame_ring {
    unsigned int filled, emptied; /* how many frames there have been */
    unsigned int sizes[FRAME_SLOTS];
    unsigned int tell; /* who fills it waits for room */
    char rest[SERVICE_PAGE - 4 * (3 + FRAME_SLOTS)];
    char frames[FRAME_SLOTS][FRAME_ROOM];
};
struct nic_memory {
    struct frame_ring received, sent;
};

#define INPUT_MOST 8
enum input_kinds { INPUT_PRESSED, INPUT_RELEASED, INPUT_MOVED };
#define INPUT_EXTENDED 0x80 /* of a key's code: E0 goes before it */

/* What keyboard and mouse have done. */
struct input_events {
    unsigned int count;
    struct {
        unsigned int kind, key; /* a code of scan code set 1; or the mouse's buttons: left, right, middle */
        int x, y;
    } events[INPUT_MOST];
};

#endif
