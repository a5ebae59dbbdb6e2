// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of programs. The server reads and writes it at its own addresses: Linux's page tables say
 * where each page is, and no function is needed for the few steps through them.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/futex.h>
#include <kern_util.h>
#include "cobnut.h"
#include "pages.h"

/* A page that is not yet as it has to be, or NULL. */
static noinline void *make(struct mm_struct *mm, unsigned long address, bool write)
{
	unsigned long page = cobnut_user_page(mm, address, write, &(bool){ false });
	int code;

	if (!page && !handle_page_fault(address, 0, write, 1, &code))
		page = cobnut_user_page(mm, address, write, &(bool){ false });
	return page ? (void *)(page + (address & ~PAGE_MASK)) : NULL;
}

/* Where the kernel has what the current program has at an address, or NULL. */
static __always_inline void *find(unsigned long address, bool write)
{
	const unsigned long wanted = _PAGE_PRESENT | _PAGE_USER | _PAGE_ACCESSED |
				     (write ? _PAGE_RW | _PAGE_DIRTY : 0);
	struct mm_struct *mm = current->mm;
	const pte_t *pte;

	if (unlikely(!mm || address >= TASK_SIZE))
		return NULL;
	pte = pte_of(mm, address);
	if (likely(pte && (pte_val(*pte) & wanted) == wanted))
		return __va(pte_val(*pte) & PAGE_MASK) + (address & ~PAGE_MASK);
	return make(mm, address, write);
}

static __always_inline unsigned long to_page_end(unsigned long address, unsigned long most)
{
	return min(most, PAGE_SIZE - (address & ~PAGE_MASK));
}

/* Most are of one word. */
static __always_inline void copy(void *to, const void *from, unsigned long n)
{
	if (n == sizeof(u32))
		*(u32 *)to = *(const u32 *)from;
	else
		memcpy(to, from, n);
}

static __always_inline void copy_in(void *theirs, void *ours, unsigned long n)
{
	copy(ours, theirs, n);
}

static __always_inline void copy_out(void *theirs, void *ours, unsigned long n)
{
	copy(theirs, ours, n);
}

static __always_inline void clear(void *theirs, void *ours, unsigned long n)
{
	memset(theirs, 0, n);
}

/* Does it with `n` bytes, page by page. Returns how many are left. */
static __always_inline unsigned long
by_pages(unsigned long address, void *ours, unsigned long n, bool write,
	 void (*act)(void *theirs, void *ours, unsigned long n))
{
	while (n) {
		const unsigned long part = to_page_end(address, n);
		void *theirs = find(address, write);

		if (unlikely(!theirs))
			break;
		act(theirs, ours, part);
		ours += part;
		address += part;
		n -= part;
	}
	return n;
}

unsigned long raw_copy_from_user(void *to, const void __user *from, unsigned long n)
{
	return by_pages((unsigned long)from, to, n, false, copy_in);
}
EXPORT_SYMBOL(raw_copy_from_user);

unsigned long raw_copy_to_user(void __user *to, const void *from, unsigned long n)
{
	return by_pages((unsigned long)to, (void *)from, n, true, copy_out);
}
EXPORT_SYMBOL(raw_copy_to_user);

unsigned long __clear_user(void __user *to, unsigned long n)
{
	return by_pages((unsigned long)to, NULL, n, true, clear);
}
EXPORT_SYMBOL(__clear_user);

/*
 * The length of a string, or `most` if it is no shorter, or -EFAULT. What is read of it, with its
 * end, is copied to `to`, if that is not NULL.
 */
static __always_inline long read_string(char *to, unsigned long address, long most)
{
	long done, part;

	for (done = 0; done < most; done += part) {
		const char *found = find(address + done, false);
		long length;

		if (!found)
			return -EFAULT;
		part = to_page_end(address + done, most - done);
		length = strnlen(found, part);
		if (to)
			memcpy(to + done, found, min(length + 1, part));
		if (length < part)
			return done + length;
	}
	return most;
}

long strncpy_from_user(char *to, const char __user *from, long count)
{
	return access_ok(from, 1) ? read_string(to, (unsigned long)from, count) : -EFAULT;
}
EXPORT_SYMBOL(strncpy_from_user);

long strnlen_user(const char __user *string, long most)
{
	long length = access_ok(string, 1) ? read_string(NULL, (unsigned long)string, most) : -EFAULT;

	return length < 0 ? 0 : length + 1;
}
EXPORT_SYMBOL(strnlen_user);

/* One that can be written to, without waiting for its page. */
static u32 *find_futex(u32 __user *futex)
{
	u32 *found;

	if (!access_ok(futex, sizeof(*futex)))
		return NULL;
	pagefault_disable();
	found = find((unsigned long)futex, true);
	pagefault_enable();
	return found;
}

/* There is one processor, and nothing interrupts the kernel: no instruction needs to be atomic. */
int arch_futex_atomic_op_inuser(int op, u32 operand, int *old, u32 __user *futex)
{
	u32 *word = find_futex(futex), value;

	if (!word)
		return -EFAULT;
	value = *word;
	switch (op) {
	case FUTEX_OP_SET:
		*word = operand;
		break;
	case FUTEX_OP_ADD:
		*word = value + operand;
		break;
	case FUTEX_OP_OR:
		*word = value | operand;
		break;
	case FUTEX_OP_ANDN:
		*word = value & ~operand;
		break;
	case FUTEX_OP_XOR:
		*word = value ^ operand;
		break;
	default:
		return -ENOSYS;
	}
	*old = value;
	return 0;
}
EXPORT_SYMBOL(arch_futex_atomic_op_inuser);

int futex_atomic_cmpxchg_inatomic(u32 *old, u32 __user *futex, u32 expected, u32 new)
{
	u32 *word = find_futex(futex);

	if (!word)
		return -EFAULT;
	*old = *word;
	if (*word == expected)
		*word = new;
	return 0;
}
EXPORT_SYMBOL(futex_atomic_cmpxchg_inatomic);
