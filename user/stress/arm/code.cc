// SPDX-License-Identifier: BSD-2-Clause
// Code in pages that move and change.
#include "../family.h"
#include "../worker.h"

namespace stress {
namespace {

constexpr Word write_back = 1;
constexpr Word kinds = 2, words = 5;
// A page's code: it is called with its own address in R0, and gives the page's content, or its complement.
constexpr Word code[kinds][words] = {
    // bic r0, r0, #0xFF0; bic r0, r0, #0xF; ldr r0, [r0]; mov pc, lr
    {0xE3C00EFF, 0xE3C0000F, 0xE5900000, 0xE1A0F00E, 0xE1A0F00E},
    {0xE3C00EFF, 0xE3C0000F, 0xE5900000, 0xE1E00000, 0xE1A0F00E}, // the same with mvn r0, r0 before the return
};

} // namespace

/// By the worker of a node, or the root space. A program that writes code has to make it known (docs/x2-arm.md): the
/// page's attribute is set.
void Family::write_code(Word page, Node writer)
{
    const Word kind = random_.below(kinds);
    for (Word i = 0; i < words; i++) {
        const Word offset = code_at + i * sizeof(Word), word = code[kind][i];
        if (is_root(writer)) *reinterpret_cast<volatile Word *>(page_address(index_, page) + offset) = word;
        else
            ask(space_of(writer), any_thread(space_of(writer)), do_write, place_address(writer % places) + offset,
                word);
    }
    model_.accessed(writer, true);
    complements_[page] = kind == 1;
    set_attribute(page, write_back);
}

/// All pages have code from its first use on.
void Family::prepare_code()
{
    if (has_code_) return;
    has_code_ = true;
    for (Word page = 0; page < pages; page++) write_code(page, root_of(page));
}

/// By a space that may write to it.
void Family::rewrite_code()
{
    prepare_code();
    const Node node = any_writable();
    if (usable(node) && model_.permits(node, true)) return write_code(model_.page(node), node);
    const Word page = random_.below(pages);
    write_code(page, root_of(page));
}

/// Calls the code of the page at a node: after a fault, if there is none.
void Family::call_page(Node node)
{
    prepare_code();
    const Word space = space_of(node), thread = any_thread(space), address = place_address(node % places) + code_at;
    const bool must_fault = !model_.permits(node, false);
    expected_ = {must_fault, false, node, space, thread, address, false, false};
    const Word found = ask(space, thread, do_run, address);
    if (must_fault && !expected_.happened) fail("space %u executes %08x without a fault", space, address);
    expected_ = {};
    const Word page = model_.page(node), wanted = complements_[page] ? ~value_[page] : value_[page];
    if (found != wanted) fail("space %u has %08x from the code at %08x, not %08x", space, found, address, wanted);
    model_.accessed(node, false);
    count[executions]++;
}

/// A space has other code where it has just executed some, and no space loses anything by that.
void Family::replace_code()
{
    const Node node = any_writable(), other = node_of(space_of(node), random_.below(places));
    if (!usable(node) || !usable(other) || !model_.permits(node, false) || !model_.permits(other, false)) return;
    const Word page = model_.page(other);
    call_page(other);
    call_page(node);
    take_away(node);
    if (!model_.present(other)) return;
    give(page, node, read);
    call_page(node);
}

void Family::call_any_page()
{
    const Node node = any_node();
    if (usable(node)) call_page(node);
}

} // namespace stress
