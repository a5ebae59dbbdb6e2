// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/cba: the disk whose driver provides the service `disk`. Requests go to the disk's thread one
 * at a time, as the driver serves them; their data passes through a buffer that is shared with it.
 *
 * A driver that dies is started again. What it was asked for is asked of the next one: reads,
 * writes and flushes can be done twice, and the drive has what it had. If none comes the request
 * fails; so do all that follow one that has not been answered at all.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include "cobnut.h"

#define BUFFER		((char *)DEVICES_START)
#define BUFFER_PAGES	(DISK_MOST_BLOCKS * DISK_BLOCK / SERVICE_PAGE)
#define MOST_DRIVERS	50	/* that are tried for one request, so long after each other: */
#define RESTART_US	100000
#define JOB_OPEN	DISK_OPEN

static unsigned char stack[4096] __aligned(16);
static L4_ThreadId_t thread;

/* What the main thread has the disk's thread do: the operation, and how it has ended. */
static struct {
	int operation;
	L4_Word_t block, count;
	int error;
	volatile bool done;
} job;

/* the disk's thread's own */
static struct service disk = { .name = SERVICE_DISK };
static L4_Word_t handle, part, blocks;
static bool silent, absent;	/* it does not answer; there is none */

/* the main thread's own */
static struct request *request;	/* that it waits for */
static DECLARE_COMPLETION(opened);

/* Finds the driver, and has it use the buffer. */
static int open_disk(void)
{
	L4_Word_t answer[2];
	int error = service_find(&disk);

	if (!error)
		error = service_open(&disk, DISK_OPEN, answer, 2);
	if (!error)
		error = service_pass(handle, &disk);
	if (!error)
		error = service_call(disk.driver, DISK_BUFFER, 1, &handle, 0, NULL);
	if (error) {
		disk.driver = L4_nilthread;
		return error;
	}
	part = answer[0];
	blocks = answer[1];
	return 0;
}

static int try_job(void)
{
	L4_Word_t words[4] = { 0, job.block, job.count, 0 };
	int error = L4_IsNilThread(disk.driver) ? open_disk() : 0;

	if (error || job.operation == JOB_OPEN)
		return error;
	words[0] = part;
	return service_call(disk.driver, job.operation, job.operation == DISK_FLUSH ? 1 : 4, words, 0,
			    NULL);
}

static int do_job(void)
{
	const int most = absent ? 1 : MOST_DRIVERS;
	int error = silent ? SERVICE_SILENT : 0, tries;

	if (!error && !handle)
		error = service_buffer(BUFFER_PAGES, DEVICES_START, &handle);
	if (error)
		return error;
	for (tries = 0; tries < most; tries++) {
		if (tries)
			L4_Sleep(L4_TimePeriod(RESTART_US));
		error = try_job();
		absent = error == SERVICE_DEAD || error == SERVICE_NOT_RUNNING;
		if (!absent)
			break;
		disk.driver = L4_nilthread;
	}
	/* its answer would be taken for that to another call */
	silent = error == SERVICE_SILENT;
	return error;
}

static void disk_thread(void)
{
	L4_ThreadId_t from;
	L4_MsgTag_t tag;

	L4_Accept(L4_UntypedWordsAcceptor);
	for (;;) {
		tag = L4_Wait(&from);
		if (L4_IpcFailed(tag) || !L4_IsLocalId(from))
			continue;
		job.error = do_job();
		job.done = true;
		events_tell(PENDING_BLOCK);
	}
}

/* The thread waits: there is no other job. */
static void begin_job(int operation, L4_Word_t block, L4_Word_t count)
{
	job.operation = operation;
	job.block = block;
	job.count = count;
	job.done = false;
	barrier();
	L4_Set_MsgTag((L4_MsgTag_t){ .raw = 0 });
	L4_Send(thread);
}

static void copy(struct request *rq, bool into_buffer)
{
	struct req_iterator iter;
	struct bio_vec piece;
	char *at = BUFFER;

	rq_for_each_segment(piece, rq, iter) {
		void *page = bvec_kmap_local(&piece);

		if (into_buffer)
			memcpy(at, page, piece.bv_len);
		else
			memcpy(page, at, piece.bv_len);
		kunmap_local(page);
		at += piece.bv_len;
	}
}

static blk_status_t begin_request(struct blk_mq_hw_ctx *context,
				  const struct blk_mq_queue_data *data)
{
	struct request *rq = data->rq;
	int operation;

	switch (req_op(rq)) {
	case REQ_OP_READ:
		operation = DISK_READ;
		break;
	case REQ_OP_WRITE:
		operation = DISK_WRITE;
		break;
	case REQ_OP_FLUSH:
		operation = DISK_FLUSH;
		break;
	default:
		return BLK_STS_NOTSUPP;
	}
	blk_mq_start_request(rq);
	request = rq;
	if (operation == DISK_WRITE)
		copy(rq, true);
	begin_job(operation, blk_rq_pos(rq), blk_rq_sectors(rq));
	return BLK_STS_OK;
}

static irqreturn_t job_done(int irq, void *unused)
{
	struct request *rq = request;

	if (!job.done)
		return IRQ_NONE;
	job.done = false;
	request = NULL;
	if (!rq) {
		complete(&opened);
		return IRQ_HANDLED;
	}
	if (!job.error && req_op(rq) == REQ_OP_READ)
		copy(rq, false);
	blk_mq_end_request(rq, job.error ? BLK_STS_IOERR : BLK_STS_OK);
	return IRQ_HANDLED;
}

static const struct blk_mq_ops requests = {
	.queue_rq = begin_request,
};
static const struct block_device_operations operations = {};
static struct blk_mq_tag_set tags = {
	.ops = &requests,
	.nr_hw_queues = 1,
	.queue_depth = 1,
	.numa_node = NUMA_NO_NODE,
	.flags = BLK_MQ_F_SHOULD_MERGE,
};

static int __init add(void)
{
	struct gendisk *gendisk;
	int err = blk_mq_alloc_tag_set(&tags);

	if (err)
		return err;
	gendisk = blk_mq_alloc_disk(&tags, NULL);
	if (IS_ERR(gendisk))
		return PTR_ERR(gendisk);
	gendisk->fops = &operations;
	strscpy(gendisk->disk_name, "cba", DISK_NAME_LEN);
	set_capacity(gendisk, blocks);
	blk_queue_max_hw_sectors(gendisk->queue, DISK_MOST_BLOCKS);
	blk_queue_write_cache(gendisk->queue, true, false);
	blk_queue_flag_clear(QUEUE_FLAG_ADD_RANDOM, gendisk->queue);
	err = add_disk(gendisk);
	if (err)
		put_disk(gendisk);
	return err;
}

static int __init block_init(void)
{
	int err;

	if (!service_exists(SERVICE_DISK))
		return 0;
	if (service_thread(disk_thread, stack, sizeof(stack), &thread))
		return -ENOMEM;
	err = request_irq(BLOCK_IRQ, job_done, 0, "cba", NULL);
	if (err)
		return err;
	begin_job(JOB_OPEN, 0, 0);
	wait_for_completion(&opened);
	if (job.error) {
		pr_err("cba: the disk's driver has none (error %d)\n", job.error);
		return -ENODEV;
	}
	return add();
}
device_initcall(block_init);
