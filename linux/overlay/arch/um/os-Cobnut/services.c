// SPDX-License-Identifier: GPL-2.0
/*
 * Services of drivers, which are programs beside this server: calls to them, and threads that make
 * these calls. A driver answers when its device has done what it was asked for, so the main thread
 * calls none; it calls root, which answers at once.
 *
 * A message is as libs/rpc has it: the label is the operation, or in an answer the error; its words
 * are the arguments, or the result. A name is its length, and its letters behind that.
 */
#include <linux/kernel.h>
#include <linux/string.h>
#include "cobnut.h"

#define NAME_WORDS	9
#define PATIENCE_US	90000000	/* more than a driver gives its device */

static L4_ThreadId_t root(void)
{
	return (L4_ThreadId_t){ .raw = server_boot->root };
}

/* The error that an answer is; the service's result, of so many words, if there is none. */
static int take_answer(L4_MsgTag_t tag, int answers, L4_Word_t *out)
{
	if (L4_IpcFailed(tag))
		return SERVICE_DEAD;
	if (L4_Label(tag))
		return L4_Label(tag);
	if (L4_UntypedWords(tag) != answers)
		return SERVICE_DEAD;
	L4_StoreMRs(1, answers, out);
	return 0;
}

/* The error of the service; its result, of so many words, if there is none. */
int service_call(L4_ThreadId_t to, int operation, int words, const L4_Word_t *in, int answers,
		 L4_Word_t *out)
{
	const L4_Word_t timed_out = 1;
	L4_MsgTag_t tag;

	L4_Set_MsgTag((L4_MsgTag_t){ .raw = operation << 16 | words });
	L4_LoadMRs(1, words, in);
	tag = L4_Call_Timeouts(to, L4_TimePeriod(PATIENCE_US), L4_TimePeriod(PATIENCE_US));
	if (L4_IpcFailed(tag) && (L4_ErrorCode() >> 1 & 7) == timed_out)
		return SERVICE_SILENT;
	return take_answer(tag, answers, out);
}

static int call_with_name(L4_ThreadId_t to, int operation, const char *name, int answers,
			  L4_Word_t *out)
{
	L4_Word_t words[NAME_WORDS] = { strlen(name) };

	memcpy(words + 1, name, words[0]);
	return service_call(to, operation, 1 + DIV_ROUND_UP(words[0], sizeof(*words)), words, answers,
			    out);
}

/* Whether there is a driver for it, or one that is to be started again. */
bool service_exists(const char *name)
{
	L4_Word_t driver;

	return call_with_name(root(), INIT_OPEN, name, 1, &driver) != SERVICE_NOT_FOUND;
}

/* A thread that runs before the main thread. */
int service_thread(void (*begin)(void), void *stack, unsigned long size, L4_ThreadId_t *made)
{
	const L4_Word_t words[2] = { (L4_Word_t)begin, (L4_Word_t)stack + size - 16 };

	return service_call(root(), INIT_MAKE_THREAD, 2, words, 1, &made->raw);
}

int service_find(struct service *service)
{
	return call_with_name(root(), INIT_OPEN, service->name, 1, &service->driver.raw);
}

/* The first call of a driver's, by an operation that takes the name. */
int service_open(struct service *service, int operation, L4_Word_t *answer, int answers)
{
	return call_with_name(service->driver, operation, service->name, answers, answer);
}

/* Memory to share with a driver. */
int service_buffer(L4_Word_t pages, L4_Word_t address, L4_Word_t *handle)
{
	int error = service_call(root(), INIT_CREATE, 1, &pages, 1, handle);

	return error ?: service_attach(*handle, address);
}

int service_attach(L4_Word_t handle, L4_Word_t address)
{
	const L4_Word_t words[3] = { handle, address, 1 };
	L4_Word_t at;

	return service_call(root(), INIT_ATTACH, 3, words, 1, &at);
}

void service_detach(L4_Word_t address)
{
	service_call(root(), INIT_DETACH, 1, &address, 0, NULL);
}

/* A call without arguments that is answered when something has happened, however late. */
int service_wait(const struct service *service, int operation, int answers, L4_Word_t *out)
{
	L4_Set_MsgTag((L4_MsgTag_t){ .raw = operation << 16 });
	return take_answer(L4_Call(service->driver), answers, out);
}

int service_pass(L4_Word_t handle, const struct service *service)
{
	const L4_Word_t words[3] = { handle, service->driver.raw, 1 };

	return service_call(root(), INIT_PASS, 3, words, 0, NULL);
}
