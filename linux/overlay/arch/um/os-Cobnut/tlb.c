// SPDX-License-Identifier: GPL-2.0
/*
 * The microkernel's page tables are a TLB that is filled by software: filled at page faults from
 * Linux's page tables, and unmapped where Linux flushes. Nothing is walked at fork.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/oom.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <asm/tlbflush.h>
#include <as-layout.h>
#include <skas.h>
#include "cobnut.h"
#include "pages.h"

#define MOST_PIECES	32

/*
 * Accessed and dirty are noted as the processor would: a page is writable there only once it has
 * been written to.
 */
unsigned long cobnut_user_page(struct mm_struct *mm, unsigned long address, bool write,
			       bool *writable)
{
	pte_t *pte = address < TASK_SIZE ? pte_of(mm, address) : NULL;

	if (!pte || !pte_present(*pte) || !pte_read(*pte) || (write && !pte_write(*pte)))
		return 0;
	*pte = pte_mkyoung(*pte);
	if (write)
		*pte = pte_mkdirty(*pte);
	*writable = pte_write(*pte) && pte_dirty(*pte);
	return (unsigned long)__va(pte_val(*pte) & PAGE_MASK);
}

/* The same for a page that has been accessed already, and stays as it is. */
unsigned long cobnut_young_page(struct mm_struct *mm, unsigned long address, bool *writable)
{
	pte_t *pte = address < TASK_SIZE ? pte_of(mm, address) : NULL;

	if (!pte || !pte_present(*pte) || !pte_read(*pte) || !pte_young(*pte))
		return 0;
	*writable = pte_write(*pte) && pte_dirty(*pte);
	return (unsigned long)__va(pte_val(*pte) & PAGE_MASK);
}

/* Takes rights from whole pieces, each as large as its address allows. */
static void unmap_range(unsigned long thread, unsigned long start, unsigned long end, int rights)
{
	L4_Word_t pieces[MOST_PIECES];
	int n = 0;

	while (start < end) {
		int log2 = start ? __ffs(start) : 31;

		while (end - start < 1ul << log2)
			log2--;
		pieces[n++] = L4_FpageLog2(start, log2).raw | rights;
		start += 1ul << log2;
		if (n == MOST_PIECES || start >= end) {
			x2_unmap(thread, n, pieces);
			n = 0;
		}
	}
}

static void flush(struct mm_struct *mm, unsigned long start, unsigned long end, int rights)
{
	const unsigned long anchor = mm->context.id.anchor;

	/* no thread runs there any more, and the space goes as a whole */
	if (!anchor || atomic_read(&mm->mm_users) == 0)
		return;
	unmap_range(anchor, start & PAGE_MASK, PAGE_ALIGN(end), rights);
}

void flush_tlb_page(struct vm_area_struct *vma, unsigned long address)
{
	flush(vma->vm_mm, address, (address & PAGE_MASK) + PAGE_SIZE, L4_FullyAccessible);
}

void flush_tlb_range(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	if (vma->vm_mm)
		flush(vma->vm_mm, start, end, L4_FullyAccessible);
	else
		flush_tlb_kernel_range(start, end);
}
EXPORT_SYMBOL(flush_tlb_range);

void flush_tlb_mm_range(struct mm_struct *mm, unsigned long start, unsigned long end)
{
	flush(mm, start, end, L4_FullyAccessible);
}

/* At the end of fork pages can be read as before. */
void flush_tlb_mm(struct mm_struct *mm)
{
	flush(mm, 0, TASK_SIZE, mm->context.id.copied ? L4_Writable : L4_FullyAccessible);
	mm->context.id.copied = 0;
}

void flush_tlb_all(void)
{
	if (current->mm)
		flush_tlb_mm(current->mm);
}

/*
 * The microkernel has no memory for more mappings: all go, and come again where they are used.
 */
void cobnut_evict(void)
{
	struct task_struct *task;

	rcu_read_lock();
	for_each_process(task) {
		struct task_struct *t = find_lock_task_mm(task);

		if (!t)
			continue;
		flush(t->mm, 0, TASK_SIZE, L4_FullyAccessible);
		task_unlock(t);
	}
	rcu_read_unlock();
}

/*
 * The kernel's own: addresses of vmalloc, where root maps pages of the server's once more.
 */
static void alias_range(unsigned long start, unsigned long end)
{
	unsigned long frames[MOST_ALIASES], first = start, address;
	int n = 0;

	for (address = start; address < end; address += PAGE_SIZE) {
		pte_t *pte = pte_of(&init_mm, address);
		bool present = pte && pte_present(*pte);

		if (present && pte_newpage(*pte)) {
			L4_Flush(L4_FpageAddRights(L4_FpageLog2(address, PAGE_SHIFT),
						   L4_FullyAccessible));
			if (!n)
				first = address;
			frames[n++] = (unsigned long)__va(pte_val(*pte) & PAGE_MASK);
			*pte = pte_mkuptodate(*pte);
			present = false;
			if (n < MOST_ALIASES && address + PAGE_SIZE < end)
				continue;
		} else if (pte && !pte_present(*pte) && pte_newpage(*pte)) {
			L4_Flush(L4_FpageAddRights(L4_FpageLog2(address, PAGE_SHIFT),
						   L4_FullyAccessible));
			*pte = pte_mkuptodate(*pte);
		} else if (!pte) {
			/* no table: nothing has been mapped by it */
			address |= PMD_SIZE - PAGE_SIZE;
		}
		if (n && root_alias(first, n, frames))
			panic("root maps no page at %lx", first);
		n = 0;
	}
	if (n && root_alias(first, n, frames))
		panic("root maps no page at %lx", first);
}

void flush_tlb_kernel_range(unsigned long start, unsigned long end)
{
	alias_range(start & PAGE_MASK, PAGE_ALIGN(end));
}

void flush_tlb_kernel_vm(void)
{
	alias_range(start_vm, end_vm);
}

void __flush_tlb_one(unsigned long address)
{
	alias_range(address & PAGE_MASK, (address & PAGE_MASK) + PAGE_SIZE);
}
