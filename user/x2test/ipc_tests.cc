// SPDX-License-Identifier: BSD-2-Clause
// Message transfer, partners and waiting (manual 5.6).
#include "harness.h"

namespace x2test {
namespace {

/// Sends every message back with each word incremented and the label complemented; for ever.
Word do_echo(Word partner, Word, Word)
{
    const L4_ThreadId_t to{.raw = partner};
    L4_MsgTag_t tag = L4_Receive(to);
    for (;;) {
        if (L4_IpcFailed(tag)) return L4_ErrorCode();
        const Word u = L4_UntypedWords(tag);
        for (Word i = 1; i <= u; i++) {
            Word w;
            L4_StoreMR(static_cast<int>(i), &w);
            L4_LoadMR(static_cast<int>(i), w + 1);
        }
        L4_Set_MsgTag(L4_MsgTag_t{.raw = (~L4_Label(tag) << 16) | u});
        tag = L4_Call(to);
    }
}

void all_sizes(Kind kind, bool lipc)
{
    Agent *a = agent(kind);
    if (!a) return;
    begin(a, do_echo, main_id.raw);
    for (Word u = 0; u < 64; u++) {
        const Word label = 0xF00F ^ u;
        L4_Set_MsgTag(L4_MsgTag_t{.raw = label << 16 | u});
        for (Word i = 1; i <= u; i++) L4_LoadMR(static_cast<int>(i), i * 0x01010101 + u);
        const L4_MsgTag_t tag = lipc ? L4_Lipc(a->id, a->id, L4_Timeouts(second, second), nullptr)
                                     : L4_Call_Timeouts(a->id, second, second);
        CHECK_EQUAL(tag.raw, (~label << 16) | u);
        for (Word i = 1; i <= u; i++) {
            Word w;
            L4_StoreMR(static_cast<int>(i), &w);
            CHECK_EQUAL(w, i * 0x01010101 + u + 1);
        }
    }
}

void sizes_here() { all_sizes(Kind::here, false); }
void sizes_across() { all_sizes(Kind::other, false); }
void sizes_large() { all_sizes(Kind::large, false); }
void sizes_small() { all_sizes(Kind::small, false); }
void sizes_lipc() { all_sizes(Kind::here, true); }

Word do_chat(Word partner, Word rounds, Word)
{
    for (Word i = 0; i < rounds; i++) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 3});
        for (int r = 1; r <= 3; r++) L4_LoadMR(r, i * static_cast<Word>(r));
        const L4_MsgTag_t tag = L4_Call_Timeouts(L4_ThreadId_t{.raw = partner}, second, second);
        if (L4_IpcFailed(tag)) return 0xE0000000 | L4_ErrorCode();
        for (int r = 1; r <= 3; r++) {
            Word w;
            L4_StoreMR(r, &w);
            if (w != i * static_cast<Word>(r) + 1) return i + 1;
        }
    }
    return 0;
}

/// Two agents talk to each other, main waits for the end: all four pairs of kinds.
void pair_of(Kind client_kind, Kind server_kind)
{
    Agent *client = agent(client_kind), *server = agent(server_kind);
    if (!client || !server) return;
    begin(server, do_echo, client->id.raw);
    CHECK_EQUAL(ask(client, do_chat, server->id.raw, 500).value, 0);
    if (client_kind == Kind::small) CHECK(small_number(client) != 0 || !small_spaces());
    if (server_kind == Kind::small) CHECK(small_number(server) != 0 || !small_spaces());
}
void pair_large_large() { pair_of(Kind::large, Kind::large); }
void pair_small_small() { pair_of(Kind::small, Kind::small); }
void pair_large_small() { pair_of(Kind::large, Kind::small); }
void pair_small_large() { pair_of(Kind::small, Kind::large); }

/// A third space takes part: the large space whose page directory was in use comes back.
void mixed_triangle()
{
    Agent *large1 = agent(Kind::large), *large2 = agent(Kind::large), *small = agent(Kind::small);
    if (!large1 || !large2 || !small) return;
    for (int i = 0; i < 20; i++) {
        begin(small, do_echo, large1->id.raw);
        CHECK_EQUAL(ask(large1, do_chat, small->id.raw, 5).value, 0);
        remove(small);
        small = agent(Kind::small);
        if (!small) return;
        begin(large2, do_echo, large1->id.raw);
        CHECK_EQUAL(ask(large1, do_chat, large2->id.raw, 5).value, 0);
        remove(large2);
        large2 = agent(Kind::large);
        if (!large2) return;
    }
}

void nil_nil()
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x12340000});
    CHECK_EQUAL(L4_Ipc(L4_nilthread, L4_nilthread, 0, nullptr).raw, 0);
}

Word do_send_to(Word to, Word label, Word mr1)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = label << 16 | 1});
    L4_LoadMR(1, mr1);
    const L4_MsgTag_t tag = L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : tag.raw;
}

void from_is_global()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, do_send_to, main_id.raw, 1);
    L4_ThreadId_t from = L4_nilthread;
    CHECK(L4_IpcSucceeded(L4_Wait_Timeout(second, &from)));
    CHECK_EQUAL(from.raw, a->id.raw);
}

void from_is_local()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    begin(a, do_send_to, main_id.raw, 1);
    L4_ThreadId_t from = L4_nilthread;
    CHECK(L4_IpcSucceeded(L4_Ipc(L4_nilthread, a->id, L4_Timeouts(L4_Never, second), &from)));
    CHECK_EQUAL(from.raw, a->local.raw);
}

void local_destination()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    begin(a, do_echo, L4_MyLocalId().raw);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x00010000});
    CHECK_EQUAL(L4_Call_Timeouts(a->local, second, second).raw, 0xFFFE0000);
}

void send_only_returns_zero()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x00420000 | 4});
    L4_LoadMR(1, reinterpret_cast<Word>(do_nothing));
    CHECK_EQUAL(L4_Send_Timeout(a->id, second).raw, 0);
}

/// Flags that a sender sets by itself do not arrive.
Word do_send_tag(Word to, Word tag, Word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = tag});
    return L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second).raw;
}
void flags_are_the_kernels()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, do_send_tag, main_id.raw, 0x0777E000);
    CHECK_EQUAL(L4_Receive_Timeout(a->id, second).raw, 0x07770000);
}

/// Senders are taken in the order in which they came.
void senders_first_in_first_out()
{
    Agent *a[3];
    for (Word i = 0; i < 3; i++) {
        if (!(a[i] = agent(i == 1 ? Kind::here : Kind::other))) return;
    }
    for (Word i = 0; i < 3; i++) {
        begin(a[i], do_send_to, main_id.raw, 0x50 + i);
        pause(3000); // no receive from any of them happens meanwhile
        CHECK_EQUAL(L4_Schedule(a[i]->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_PENDING_SEND);
    }
    for (Word i = 0; i < 3; i++) {
        L4_ThreadId_t from;
        CHECK_EQUAL(L4_Label(L4_Wait_Timeout(second, &from)), 0x50 + i);
    }
}

void closed_wait_chooses()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    begin(a, do_send_to, main_id.raw, 0xA);
    begin(b, do_send_to, main_id.raw, 0xB);
    pause(3000);
    CHECK_EQUAL(L4_Label(L4_Receive_Timeout(b->id, second)), 0xB);
    CHECK_EQUAL(L4_Label(L4_Receive_Timeout(a->id, second)), 0xA);
}

void anylocal_excludes_other_spaces()
{
    Agent *stranger = agent(Kind::other), *mate = agent(Kind::here);
    if (!stranger || !mate) return;
    begin(stranger, do_send_to, main_id.raw, 0xF);
    pause(3000);
    L4_ThreadId_t from;
    const L4_MsgTag_t none = L4_Ipc(L4_nilthread, L4_anylocalthread, L4_Timeouts(L4_Never, short_time), &from);
    CHECK(L4_IpcFailed(none));
    CHECK_EQUAL(L4_ErrorCode(), 3);
    begin(mate, do_send_to, main_id.raw, 0x1);
    const L4_MsgTag_t one = L4_Ipc(L4_nilthread, L4_anylocalthread, L4_Timeouts(L4_Never, second), &from);
    CHECK_EQUAL(L4_Label(one), 0x1);
    CHECK_EQUAL(from.raw, mate->local.raw);
    CHECK_EQUAL(L4_Label(L4_Wait_Timeout(second, &from)), 0xF);
}

/// A reply with zero timeout always finds the caller receiving.
void call_is_atomic()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    begin(a, do_chat, main_id.raw, 200);
    L4_ThreadId_t from;
    L4_MsgTag_t tag = L4_Wait_Timeout(second, &from);
    for (int i = 0; i < 200; i++) {
        CHECK(L4_IpcSucceeded(tag) && from == a->id);
        for (int r = 1; r <= 3; r++) {
            Word w;
            L4_StoreMR(r, &w);
            L4_LoadMR(r, w + 1);
        }
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 3});
        tag = L4_ReplyWait_Timeout(from, second, &from);
    }
    CHECK_EQUAL(L4_Label(tag), 0x0D0E); // the agent is done and reports
    Word result;
    L4_StoreMR(1, &result);
    CHECK_EQUAL(result, 0);
}

Word do_propagate(Word to, Word virtual_sender, Word)
{
    L4_Set_VirtualSender(L4_ThreadId_t{.raw = virtual_sender});
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x00771000});
    return L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second).raw;
}
void propagated_between_mates()
{
    Agent *real = agent(Kind::other);
    Agent *pretended = real ? agent_beside(real) : nullptr;
    if (!pretended) return;
    begin(real, do_propagate, main_id.raw, pretended->id.raw);
    L4_ThreadId_t from;
    const L4_MsgTag_t tag = L4_Ipc(L4_nilthread, pretended->id, L4_Timeouts(L4_Never, second), &from);
    CHECK_EQUAL(tag.raw, 0x00771000);
    CHECK_EQUAL(from.raw, pretended->id.raw);
    CHECK_EQUAL(L4_ActualSender().raw, real->id.raw);
}
void forbidden_propagation_is_plain()
{
    Agent *real = agent(Kind::other), *stranger = agent(Kind::other);
    if (!real || !stranger) return;
    begin(real, do_propagate, main_id.raw, stranger->id.raw);
    L4_ThreadId_t from;
    CHECK_EQUAL(L4_Wait_Timeout(second, &from).raw, 0x00770000);
    CHECK_EQUAL(from.raw, real->id.raw);
}

} // namespace

const Test ipc_tests[] = {
    {"ipc.nil_nil", nil_nil},
    {"ipc.sizes_here", sizes_here},
    {"ipc.sizes_across", sizes_across},
    {"ipc.sizes_large", sizes_large},
    {"ipc.sizes_small", sizes_small},
    {"ipc.sizes_lipc", sizes_lipc},
    {"ipc.pair_large_large", pair_large_large},
    {"ipc.pair_small_small", pair_small_small},
    {"ipc.pair_large_small", pair_large_small},
    {"ipc.pair_small_large", pair_small_large},
    {"ipc.mixed_triangle", mixed_triangle},
    {"ipc.from_is_global", from_is_global},
    {"ipc.from_is_local", from_is_local},
    {"ipc.local_destination", local_destination},
    {"ipc.send_only_returns_zero", send_only_returns_zero},
    {"ipc.flags_are_the_kernels", flags_are_the_kernels},
    {"ipc.senders_first_in_first_out", senders_first_in_first_out},
    {"ipc.closed_wait_chooses", closed_wait_chooses},
    {"ipc.anylocal_excludes_other_spaces", anylocal_excludes_other_spaces},
    {"ipc.call_is_atomic", call_is_atomic},
    {"ipc.propagated_between_mates", propagated_between_mates},
    {"ipc.forbidden_propagation_is_plain", forbidden_propagation_is_plain},
    {nullptr, nullptr},
};

} // namespace x2test
