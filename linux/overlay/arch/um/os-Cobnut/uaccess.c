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
	if (likely(pte && (pte_val(*pte) & (wanted | _PAGE_PROTNONE)) == wanted))
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

unsigned long raw_copy_from_user(void *to, const void __user *from, unsigned long n)
{
	unsigned long address = (unsigned long)from;

	while (n) {
		const unsigned long part = to_page_end(address, n);
		const void *found = find(address, false);

		if (unlikely(!found))
			break;
		copy(to, found, part);
		to += part;
		address += part;
		n -= part;
	}
	return n;
}
EXPORT_SYMBOL(raw_copy_from_user);

unsigned long raw_copy_to_user(void __user *to, const void *from, unsigned long n)
{
	unsigned long address = (unsigned long)to;

	while (n) {
		const unsigned long part = to_page_end(address, n);
		void *found = find(address, true);

		if (unlikely(!found))
			break;
		copy(found, from, part);
		from += part;
		address += part;
		n -= part;
	}
	return n;
}
EXPORT_SYMBOL(raw_copy_to_user);

unsigned long __clear_user(void __user *to, unsigned long n)
{
	unsigned long address = (unsigned long)to;

	while (n) {
		const unsigned long part = to_page_end(address, n);
		void *found = find(address, true);

		if (unlikely(!found))
			break;
		memset(found, 0, part);
		address += part;
		n -= part;
	}
	return n;
}
EXPORT_SYMBOL(__clear_user);

long strncpy_from_user(char *to, const char __user *from, long count)
{
	const unsigned long address = (unsigned long)from;
	long done, part;

	if (!access_ok(from, 1))
		return -EFAULT;
	for (done = 0; done < count; done += part) {
		const char *found = find(address + done, false);
		long length;

		if (!found)
			return -EFAULT;
		part = to_page_end(address + done, count - done);
		length = strnlen(found, part);
		memcpy(to + done, found, length);
		if (length < part) {
			to[done + length] = 0;
			return done + length;
		}
	}
	return count;
}
EXPORT_SYMBOL(strncpy_from_user);

long strnlen_user(const char __user *string, long most)
{
	const unsigned long address = (unsigned long)string;
	long done, part;

	if (!access_ok(string, 1))
		return 0;
	for (done = 0; done < most; done += part) {
		const char *found = find(address + done, false);
		long length;

		if (!found)
			return 0;
		part = to_page_end(address + done, most - done);
		length = strnlen(found, part);
		if (length < part)
			return done + length + 1;
	}
	return most + 1;
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
