// SPDX-License-Identifier: GPL-2.0
/*
 * The page by which programs call the kernel without an int (vdso-code.S) and read the clock without
 * a call (vdso-clock.c): one for all, mapped into each at a free address, as on the processor's
 * own kernel. Before the code are two pages for what it reads: Linux's data, which it writes
 * at each tick, or, in a time namespace, that namespace's offsets and then Linux's data.
 */
#include <linux/binfmts.h>
#include <linux/elf.h>
#include <linux/mm.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/time_namespace.h>
#include <linux/uaccess.h>
#include <vdso/datapage.h>
#include <asm/mmu_context.h>
#include <skas.h>
#include "cobnut.h"
#include "process.h"
#include "vdso.h"

#define JMP_SHORT	((char)0xEB)
#define SYSENTER	0x340F
#define DATA_SIZE	(2 * PAGE_SIZE)	/* as vdso.lds */
#define IMAGE_SIZE	((unsigned long)(vdso_end - vdso_start))	/* its code is in the first page */

extern char vdso_start[], vdso_end[];

static union {
	struct vdso_data data[CS_BASES];
	char page[PAGE_SIZE];
} data_page __page_aligned_data;
struct vdso_data *const cobnut_vdso_data = data_page.data;

/* A program that moves it makes its calls from there, and this one returns there if it came from it. */
static int moved(const struct vm_special_mapping *mapping, struct vm_area_struct *vma)
{
	struct mm_id *space = &current->mm->context.id;
	unsigned long *ip = &current->thread.regs.regs.gp[HOST_IP];

	if (*ip == space->vdso + VDSO_BACK)
		*ip = vma->vm_start + VDSO_BACK;
	space->vdso = vma->vm_start;
	return 0;
}

static vm_fault_t code_fault(const struct vm_special_mapping *mapping, struct vm_area_struct *vma,
			     struct vm_fault *fault)
{
	const unsigned long offset = fault->pgoff << PAGE_SHIFT;

	if (offset >= IMAGE_SIZE)
		return VM_FAULT_SIGBUS;
	fault->page = virt_to_page(vdso_start + offset);
	get_page(fault->page);
	return 0;
}

static const struct vm_special_mapping code = {
	.name = "[vdso]", .fault = code_fault, .mremap = moved,
};

static vm_fault_t data_fault(const struct vm_special_mapping *mapping, struct vm_area_struct *vma,
			     struct vm_fault *fault)
{
	/* ptrace and the like have no business here: the mapping is none of memory (VM_IO) */
	struct page *offsets = current->nsproxy->time_ns->vvar_page;
	unsigned long frame = PFN_DOWN(__pa(&data_page));

	if (fault->pgoff > (offsets ? 1 : 0))
		return VM_FAULT_SIGBUS;
	if (offsets && !fault->pgoff)
		frame = page_to_pfn(offsets);
	return vmf_insert_pfn(vma, fault->address, frame);
}

static const struct vm_special_mapping data = {
	.name = "[vvar]", .fault = data_fault,
};

static int install(struct mm_struct *mm, unsigned long address)
{
	const unsigned long code_at = address + DATA_SIZE;
	struct vm_area_struct *vma;

	vma = _install_special_mapping(mm, code_at, IMAGE_SIZE,
				       VM_READ | VM_EXEC | VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC,
				       &code);
	if (IS_ERR(vma))
		return PTR_ERR(vma);
	vma = _install_special_mapping(mm, address, DATA_SIZE,
				       VM_READ | VM_MAYREAD | VM_IO | VM_DONTDUMP | VM_PFNMAP, &data);
	if (IS_ERR(vma)) {
		do_munmap(mm, code_at, IMAGE_SIZE, NULL);
		return PTR_ERR(vma);
	}
	mm->context.id.vdso = code_at;
	return 0;
}

int arch_setup_additional_pages(struct linux_binprm *bprm, int uses_interp)
{
	struct mm_struct *mm = current->mm;
	unsigned long address;
	int error;

	if (mmap_write_lock_killable(mm))
		return -EINTR;
	address = get_unmapped_area(NULL, 0, DATA_SIZE + IMAGE_SIZE, 0, 0);
	error = IS_ERR_VALUE(address) ? (int)address : install(mm, address);
	mmap_write_unlock(mm);
	return error;
}

/*
 * After a fault that is none of Linux's calls: true if sysenter raised it, because the processor has
 * none or the microkernel uses none. Then this call is made by int, and so are all others: the page
 * is patched, unless it is a program's own, which may raise the fault by itself.
 */
bool cobnut_without_sysenter(struct uml_pt_regs *regs)
{
	const unsigned long vdso = current->mm->context.id.vdso;
	unsigned long *gp = regs->gp;
	unsigned short opcode;

	if (!vdso || gp[HOST_IP] != vdso + VDSO_SYSENTER ||
	    get_user(opcode, (unsigned short __user *)gp[HOST_IP]) || opcode != SYSENTER ||
	    get_user(gp[HOST_BP], (unsigned long __user *)(gp[HOST_SP] + VDSO_FRAME)))
		return false;
	if (cobnut_user_page(current->mm, vdso, false, &(bool){ false }) == (unsigned long)vdso_start)
		vdso_start[VDSO_BRANCH] = JMP_SHORT;
	gp[HOST_SP] += VDSO_FRAME;
	gp[HOST_IP] = vdso + VDSO_BACK - INT_LENGTH;
	return true;
}

struct vdso_data *arch_get_vdso_data(void *page)
{
	return page;
}

/* What a process has of the data is another's now: it is to fault again. */
int vdso_join_timens(struct task_struct *task, struct time_namespace *namespace)
{
	struct mm_struct *mm = task->mm;
	VMA_ITERATOR(areas, mm, 0);
	struct vm_area_struct *vma;

	mmap_read_lock(mm);
	for_each_vma(areas, vma)
		if (vma_is_special_mapping(vma, &data))
			zap_page_range(vma, vma->vm_start, vma->vm_end - vma->vm_start);
	mmap_read_unlock(mm);
	return 0;
}
