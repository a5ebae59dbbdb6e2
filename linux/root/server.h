/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between root and the server: what the server finds when it starts, and what it asks root for.
 * Both sides include this; all words are 32 bits.
 */
#ifndef COBNUT_LINUX_SERVER_H
#define COBNUT_LINUX_SERVER_H

#define SERVER_START 0x00400000u /* where its memory begins, and its image in it */
#define DEVICES_START 0x00200000u /* from here to SERVER_START: addresses for memory that it shares with drivers */
#define SCREEN_LOG2 24 /* of the room that a display's memory gets, in bytes */

struct server_boot {
    unsigned int memory_end;   /* of what Linux may have; this structure is behind it */
    unsigned int disk_start, disk_end; /* memory that outlives the server, its RAM disk; empty if they are equal */
    unsigned int aliases_end;  /* from disk_end to here: addresses for other mappings */
    unsigned int screen_start, screen_width, screen_height; /* addresses for a display's memory; 0 pixels: none */
    unsigned int initrd_start, initrd_size; /* in the server's memory, page-aligned */
    unsigned int root;         /* thread ids */
    unsigned int events;
    unsigned int console;
    unsigned int first_thread; /* numbers of threads that are the server's to name */
    unsigned int threads;
    unsigned int task_size;    /* addresses that processes have */
    unsigned int time;         /* seconds since 1970, */
    unsigned int clock, clock_high; /* when the microkernel's clock, in microseconds, was this */
    unsigned int stub;         /* above them: two pages of the server's in each of their spaces */
    unsigned int small_stub;   /* the same in spaces that may be small; 0: there are none */
    unsigned int small_end;    /* of what is no program's there, which begins at small_stub */
    char command_line[1024];
};

/*
 * Calls to root, beside those of services.h: the label, and parameters in MR1 and those that
 * follow. MR1 of the answer is an error code of X.2's, 0 if there is none.
 */
enum server_calls {
    CALL_FIRST = 0x0C00,
    CALL_LAST = 0x0CFF,
    CALL_MAKE_SPACE = 0x0C01, /* id of its first thread, which never runs; 1: it may be small */
    /* id, id of a thread of the space, index of its UTCB, 1: in a space that may be small */
    CALL_MAKE_THREAD = 0x0C02,
    CALL_DELETE_THREAD = 0x0C03, /* id */
    /* address, then a page of its memory each for that page and the next ones; answered with map items alone */
    CALL_ALIAS = 0x0C04,
    CALL_OFF = 0x0C05, /* status: the end of the machine */
};

/* What root tells the events thread. */
enum server_events {
    EVENT_CHARACTER = 0x0D01, /* character from the console */
    EVENT_FAULT = 0x0D02, /* address, IP, access of a page fault of the main thread's that root cannot resolve */
};

#define MOST_ALIASES 28 /* pages in one call */

#endif
