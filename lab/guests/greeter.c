/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A FastCGI server that says hello, as the paper's does (U02 section 4.6). Before each answer it reads a word in each
 * of so many pages as the request's query says, which is its working set, and says how many these were.
 */
#include <stdlib.h>

#include <fcgi_stdio.h>

enum {
    MOST_PAGES = 256,
    DISTANCE = 4160
}; /* from word to word, as in U02 section 4.1: a page, and another cache line */

static volatile char data[MOST_PAGES * DISTANCE];

static int pages_of(const char *query)
{
    const int pages = query ? atoi(query) : 0;
    return pages < 0 ? 0 : pages > MOST_PAGES ? MOST_PAGES : pages;
}

int main(void)
{
    while (FCGI_Accept() >= 0) {
        const int pages = pages_of(getenv("QUERY_STRING"));
        for (int page = 0; page < pages; page++) (void)data[page * DISTANCE];
        printf("Content-Type: text/plain\r\n\r\nhello world, of %d pages\n", pages);
    }
    return 0;
}
