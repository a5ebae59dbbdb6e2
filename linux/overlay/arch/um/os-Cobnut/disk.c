// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/memdisk: a RAM disk in memory of root's that outlives this server. After a kill or a panic
 * the next one finds there what this one has written.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/init.h>
#include <linux/string.h>
#include "cobnut.h"

static char *memory;	/* its first byte */

static void transfer(struct bio_vec *piece, char *at, bool write)
{
	void *page = bvec_kmap_local(piece);

	if (write)
		memcpy(at, page, piece->bv_len);
	else
		memcpy(page, at, piece->bv_len);
	kunmap_local(page);
}

/* All is done at once, so a flush has nothing to wait for. */
static void submit(struct bio *bio)
{
	char *at = memory + (bio->bi_iter.bi_sector << SECTOR_SHIFT);
	const bool write = op_is_write(bio_op(bio));
	struct bvec_iter iter;
	struct bio_vec piece;

	bio_for_each_segment(piece, bio, iter) {
		transfer(&piece, at, write);
		at += piece.bv_len;
	}
	bio_endio(bio);
}

static const struct block_device_operations operations = {
	.submit_bio = submit,
};

static int __init disk_init(void)
{
	const unsigned long size = server_boot->disk_end - server_boot->disk_start;
	struct gendisk *disk;
	int err;

	if (!size)
		return 0;
	memory = (char *)server_boot->disk_start;
	disk = blk_alloc_disk(NUMA_NO_NODE);
	if (!disk)
		return -ENOMEM;
	disk->fops = &operations;
	strscpy(disk->disk_name, "memdisk", DISK_NAME_LEN);
	set_capacity(disk, size >> SECTOR_SHIFT);
	blk_queue_flag_set(QUEUE_FLAG_NONROT, disk->queue);
	blk_queue_flag_clear(QUEUE_FLAG_ADD_RANDOM, disk->queue);
	err = add_disk(disk);
	if (err)
		put_disk(disk);
	return err;
}
device_initcall(disk_init);
