// SPDX-License-Identifier: BSD-2-Clause
// Messages: what of a sender's goes into them, how they wait, and how they reach a receiver.
#include "kernel.h"

namespace mach {

using rpc::Error;

namespace {

/// Whether a message to `to` cannot be received any more once the receive right of `port` is in it. The messages that
/// it would wait behind are in no circle, for each was sent by this rule.
bool is_received_by_itself(const Port *to, const Port *port)
{
    while (to != port && to->carrier) to = to->carrier->to;
    return to == port;
}

} // namespace

Error Kernel::pack_rights(Task &task, const Message &message, Packet &packet)
{
    for (Word i = 0; i < message.right_count; i++) {
        const auto [name, kind] = message.rights[i];
        const Disposition how = static_cast<Disposition>(kind);
        const bool sends = how == Disposition::copy_send || how == Disposition::move_send;
        if (!entry(task, name)) return Error::not_found;
        if (kind < static_cast<Word>(Disposition::move_receive) || kind > static_cast<Word>(Disposition::move_send))
            return Error::bad_value;
        Port *const port = right(task, name, sends ? send_right : receive_right);
        if (!port) return Error::denied;
        if (how == Disposition::move_receive && is_received_by_itself(packet.to, port)) return Error::bad_value;
        packet.rights[packet.right_count++] = {port, how == Disposition::move_receive};
        port->references++;
        if (how == Disposition::move_send) remove_right(task, name, send_right);
        if (how != Disposition::move_receive) continue;
        port->receiver = nullptr;
        port->carrier = &packet;
        port->set = nullptr;
        remove_right(task, name, receive_right);
    }
    return Error::none;
}

Error Kernel::pack_memory(Task &task, const Message &message, Packet &packet)
{
    for (Word i = 0; i < message.memory_count; i++) {
        const Memory &m = message.memory[i];
        Region *const region = region_at(task, m.address);
        const Word first = region ? (m.address - region->address) / page_size : 0, count = m.bytes / page_size;
        if (!region || !count || m.address % page_size || m.bytes % page_size || count > region->count - first)
            return Error::bad_value;
        const Region copy = task.program ? Region{0, count, store_.copied_from(task.shown(m.address), count)}
                                         : store_.copy_of(*region, first, count);
        if (!copy.object) return Error::no_memory;
        packet.memory[packet.memory_count++] = copy;
    }
    return Error::none;
}

rpc::Result<Packet *> Kernel::pack(Task &task, const Message &message)
{
    Port *const to = right(task, message.port, send_right);
    Port *const reply = right(task, message.reply, receive_right);
    const Entry *const e = entry(task, message.port);
    if (!e || (message.reply && !entry(task, message.reply))) return Error::not_found;
    if (!to) return e->rights == dead_name ? Error::not_running : Error::denied;
    if (message.reply && !reply) return Error::denied;
    Packet *const packet = packets_.take();
    if (!packet) return Error::full;
    packet->to = to;
    to->references++;
    packet->reply = reply;
    if (reply) reply->references++;
    packet->id = message.id;
    packet->word_count = message.word_count;
    for (Word i = 0; i < message.word_count; i++) packet->words[i] = message.words[i];
    Error error = pack_memory(task, message, *packet);
    if (error == Error::none) error = pack_rights(task, message, *packet);
    if (error == Error::none) return packet;
    discard(packet);
    return error;
}

Message Kernel::unpack(Task &task, Packet &packet)
{
    Message m;
    m.port = add_right(task, packet.to, receive_right);
    m.id = packet.id;
    m.word_count = packet.word_count;
    for (Word i = 0; i < m.word_count; i++) m.words[i] = packet.words[i];
    if (packet.reply) {
        m.reply = add_right(task, packet.reply, send_right);
        release(packet.reply);
    }
    for (; m.right_count < packet.right_count; m.right_count++) {
        const auto [port, receive] = packet.rights[m.right_count];
        if (receive) port->receiver = &task, port->carrier = nullptr;
        const Name name = add_right(task, port, receive ? receive_right : send_right);
        m.rights[m.right_count] = {name, port->dead ? dead_name : receive ? receive_right : send_right};
        if (receive && !name) die(*port);
        release(port);
    }
    for (; m.memory_count < packet.memory_count; m.memory_count++) {
        m.memory[m.memory_count] = unpack_memory(task, packet.memory[m.memory_count]);
    }
    release(packet.to);
    packets_.give_back(packet);
    return m;
}

/// A program has a copy in its window, and what was in the message goes.
Memory Kernel::unpack_memory(Task &task, Region region)
{
    region.address = place_for(task, region.count);
    bool there = region.address && (!task.program || store_.copy_to(task.shown(region.address), region));
    Region placed = region;
    if (task.program) placed.object = nullptr;
    there = there && add_region(task, placed);
    if (task.program || !there) store_.release(region.object);
    return there ? Memory{region.address, region.count * page_size} : Memory{};
}

/// With what it carries: a port whose receive right is in it dies.
void Kernel::discard(Packet *packet)
{
    for (Word i = 0; i < packet->right_count; i++) {
        const auto [port, receive] = packet->rights[i];
        if (receive) die(*port);
        release(port);
    }
    for (Word i = 0; i < packet->memory_count; i++) store_.release(packet->memory[i].object);
    if (packet->reply) release(packet->reply);
    release(packet->to);
    packets_.give_back(*packet);
}

/// A task that waits for a message of the port, or of its set.
Task *Kernel::receiver_at(Port &port)
{
    Task *found = nullptr;
    tasks_.each([&](Task &task) {
        if (task.state == Task::State::receives && (task.at == &port || (port.set && task.at == port.set)))
            found = &task;
    });
    return found;
}

void Kernel::enqueue(Packet *packet)
{
    Port &port = *packet->to;
    packet->next = nullptr;
    (port.first ? port.last->next : port.first) = packet;
    port.last = packet;
    port.waiting++;
}

/// To a task that waits for it, or among the messages that wait. Error::full: those are too many, and the packet is
/// still the caller's.
Error Kernel::post(Packet *packet, Then then)
{
    Port &port = *packet->to;
    if (Task *const task = receiver_at(port)) {
        deliver(*task, unpack(*task, *packet), then);
        return Error::none;
    }
    if (port.waiting >= Port::most_waiting) return Error::full;
    enqueue(packet);
    return Error::none;
}

/// The first message of a port or of a set's members; nullptr: there is none.
Packet *Kernel::take(Port &at)
{
    Port *from = at.is_set ? nullptr : &at;
    if (at.is_set)
        ports_.each([&](Port &member) {
            if (member.set == &at && member.first && !from) from = &member;
        });
    if (!from || !from->first) return nullptr;
    Packet *const packet = from->first;
    from->first = packet->next;
    from->waiting--;
    if (!from->dead) let_senders_go_on(*from);
    return packet;
}

void Kernel::let_senders_go_on(Port &port)
{
    Task *first = nullptr;
    tasks_.each([&](Task &task) {
        if (task.state == Task::State::sends && task.unsent->to == &port && !first) first = &task;
    });
    if (!first) return;
    enqueue(first->unsent);
    first->unsent = nullptr;
    if (!first->calls) {
        first->state = Task::State::running;
        return rpc::answer<Send>(first->thread, Nothing{});
    }
    first->state = Task::State::receives;
    if (Packet *const packet = take(*first->at)) deliver(*first, unpack(*first, *packet));
}

void Kernel::interrupted(Task &task)
{
    if (task.unsent) discard(task.unsent);
    task.unsent = nullptr;
    task.state = Task::State::running;
}

/// Ends what a task waits for.
void Kernel::deliver(Task &task, const rpc::Result<Message> &result, Then then)
{
    const bool sends = task.state == Task::State::sends && !task.calls;
    task.state = Task::State::running;
    if (sends) rpc::load_answer<Send>(result.error);
    else if (task.calls) rpc::load_answer<Call>(result);
    else rpc::load_answer<Receive>(result);
    if (then == Then::waits) loaded_ = task.thread;
    else L4_Reply(task.thread);
}

L4_ThreadId_t Kernel::take_loaded()
{
    const L4_ThreadId_t thread = loaded_;
    loaded_ = L4_nilthread;
    return thread;
}

/// A message of the kernel's own, which does not wait for room.
bool Kernel::tell(Port &port, Word id, Word first, Word second, Word third, Region *memory)
{
    Packet *const packet = port.dead ? nullptr : packets_.take();
    if (!packet) {
        if (memory) store_.release(memory->object);
        return false;
    }
    packet->to = &port;
    port.references++;
    packet->id = id;
    packet->word_count = 3;
    packet->words[0] = first, packet->words[1] = second, packet->words[2] = third;
    if (memory) packet->memory[packet->memory_count++] = *memory;
    if (post(packet) == Error::full) enqueue(packet);
    return true;
}

/// Error::later: the task waits for room.
Error Kernel::send(Task &task, const Message &message, Wait wait, Then then)
{
    const Port *const to = right(task, message.port, send_right);
    if (to && wait == Wait::no && to->waiting >= Port::most_waiting) return Error::full;
    const auto packed = pack(task, message);
    if (!packed) return packed.error;
    if (post(packed.value, then) == Error::none) return Error::none;
    task.unsent = packed.value;
    task.state = Task::State::sends;
    return Error::later;
}

rpc::Result<Message> Kernel::receive(Task &task, Name name, Wait wait, bool calls)
{
    if (!entry(task, name)) return Error::not_found;
    Port *const port = right(task, name, receive_right | port_set);
    if (!port) return Error::denied;
    if (returning_) returning_ = false, store_.release_again();
    if (Packet *const packet = take(*port)) return unpack(task, *packet);
    if (wait == Wait::no) return Error::full;
    task.at = port;
    task.calls = calls;
    task.state = Task::State::receives;
    return Error::later;
}

rpc::Result<Nothing> Kernel::handle(Send, Client &client, const Message &message, Wait wait)
{
    Task &task = caller(client);
    task.calls = false;
    return send(task, message, wait);
}

rpc::Result<Message> Kernel::handle(Receive, Client &client, Name name, Wait wait)
{
    return receive(caller(client), name, wait, false);
}

rpc::Result<Message> Kernel::handle(Call, Client &client, const Message &message, Name name)
{
    Task &task = caller(client);
    Port *const port = right(task, name, receive_right | port_set);
    if (!port) return entry(task, name) ? Error::denied : Error::not_found;
    task.calls = true;
    task.at = port;
    const bool nothing_there = !port->is_set && !port->first && !returning_;
    const Error error = send(task, message, Wait::yes, nothing_there ? Then::waits : Then::goes_on);
    return error == Error::none ? receive(task, name, Wait::yes, true) : error;
}

} // namespace mach
