/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way through Linux's page tables, in line.
 */
#ifndef __COBNUT_PAGES_H
#define __COBNUT_PAGES_H

#include <linux/mm.h>

/* The entry for an address, or NULL if there is no table with it. */
static __always_inline pte_t *pte_of(struct mm_struct *mm, unsigned long address)
{
	pgd_t *pgd = pgd_offset(mm, address);
	pmd_t *pmd = pmd_offset(pud_offset(p4d_offset(pgd, address), address), address);

	return pmd_present(*pmd) ? pte_offset_kernel(pmd, address) : NULL;
}

#endif
