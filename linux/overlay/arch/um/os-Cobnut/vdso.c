// SPDX-License-Identifier: GPL-2.0
/*
 * The page by which programs call the kernel without an int (vdso-code.S): one for all, mapped into each
 * where there is room, as on the processor's own kernel.
 */
#include <linux/binfmts.h>
#include <linux/elf.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/time_namespace.h>
#include <linux/uaccess.h>
#include <asm/mmu_context.h>
#include <skas.h>
#include "cobnut.h"
#include "process.h"
#include "vdso.h"

#define JMP_SHORT	0xEB

extern const char vdso_start[], vdso_end[];

static struct page *pages[2];

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

static const struct vm_special_mapping mapping = {
	.name = "[vdso]", .pages = pages, .mremap = moved,
};

static int __init vdso_init(void)
{
	pages[0] = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!pages[0])
		return -ENOMEM;
	memcpy(page_address(pages[0]), vdso_start, vdso_end - vdso_start);
	return 0;
}
subsys_initcall(vdso_init);

int arch_setup_additional_pages(struct linux_binprm *bprm, int uses_interp)
{
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	unsigned long address;

	if (mmap_write_lock_killable(mm))
		return -EINTR;
	address = get_unmapped_area(NULL, 0, PAGE_SIZE, 0, 0);
	if (!IS_ERR_VALUE(address)) {
		vma = _install_special_mapping(mm, address, PAGE_SIZE,
					       VM_READ | VM_EXEC | VM_MAYREAD | VM_MAYWRITE |
					       VM_MAYEXEC, &mapping);
		if (IS_ERR(vma))
			address = PTR_ERR(vma);
		else
			mm->context.id.vdso = address;
	}
	mmap_write_unlock(mm);
	return IS_ERR_VALUE(address) ? (int)address : 0;
}

/*
 * After a fault that is none of Linux's calls: true if sysenter raised it, because the processor has
 * none or the microkernel uses none. Then the page is patched, and this call is made by int.
 */
bool cobnut_without_sysenter(struct uml_pt_regs *regs)
{
	const unsigned long vdso = current->mm->context.id.vdso;
	unsigned long *gp = regs->gp;

	if (!vdso || gp[HOST_IP] != vdso + VDSO_SYSENTER ||
	    get_user(gp[HOST_BP], (unsigned long __user *)(gp[HOST_SP] + VDSO_FRAME)))
		return false;
	*(unsigned char *)(page_address(pages[0]) + VDSO_BRANCH) = JMP_SHORT;
	gp[HOST_SP] += VDSO_FRAME;
	gp[HOST_IP] = vdso + VDSO_BACK - INT_LENGTH;
	return true;
}

/* Time namespaces change what calls say; the page has no clock that would have to be told. */
struct vdso_data *arch_get_vdso_data(void *page)
{
	return page;
}

int vdso_join_timens(struct task_struct *task, struct time_namespace *namespace)
{
	return 0;
}
