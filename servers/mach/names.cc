// SPDX-License-Identifier: BSD-2-Clause
// Rights and their names; ports that die.
#include "kernel.h"

namespace mach {

using rpc::Error;

Entry *Kernel::entry(Task &task, Name name)
{
    return name && name < Task::most_names && task.names[name].port ? &task.names[name] : nullptr;
}

/// The port of a right of that kind; nullptr: the task has none.
Port *Kernel::right(Task &task, Name name, Word kind)
{
    Entry *const e = entry(task, name);
    return e && e->rights & kind ? e->port : nullptr;
}

/// By the name that the port has in the task, or a new one. 0: all names are used.
Name Kernel::add_right(Task &task, Port *port, Word rights)
{
    if (port->dead) rights = dead_name;
    Name known = 0;
    each_bit(task.named, [&](Name name) {
        if (task.names[name].port == port) known = name;
    });
    if (known) {
        task.names[known].rights |= rights;
        return known;
    }
    const Word unused = ~task.named;
    if (!unused) return 0;
    const Name name = static_cast<Name>(__builtin_ctzl(unused));
    task.named |= Word{1} << name;
    task.names[name] = {port, rights, nullptr};
    port->references++;
    return name;
}

/// Gives rights up; the name goes with the last.
void Kernel::remove_right(Task &task, Name name, Word rights)
{
    Entry &e = task.names[name];
    Port *const port = e.port;
    e.rights &= ~rights;
    if (e.rights) return;
    if (e.notify) release(e.notify);
    e = {};
    task.named &= ~(Word{1} << name);
    release(port);
}

Name Kernel::make_port(Task &task, bool set)
{
    Port *const port = ports_.take();
    if (!port) return 0;
    port->is_set = set;
    port->receiver = &task;
    const Name name = add_right(task, port, set ? port_set : receive_right);
    if (!name) ports_.give_back(*port);
    return name;
}

void Kernel::release(Port *port)
{
    if (--port->references == 0) ports_.give_back(*port);
}

void Kernel::notify(Entry &e, Name name)
{
    if (!e.notify) return;
    Port *const to = e.notify;
    e.notify = nullptr;
    tell(*to, dead_name_notification, name, 0, 0, nullptr);
    release(to);
}

/// The receive right is gone: so is what waits at the port. The caller has a reference of its own.
void Kernel::die(Port &port)
{
    port.dead = true;
    if (port.references == 1 && !port.is_set) return; // the caller's own: nobody else knows it
    port.references++; // until all is done
    port.receiver = nullptr;
    port.carrier = nullptr;
    port.set = nullptr;
    ports_.each([&](Port &member) {
        if (member.set == &port) member.set = nullptr;
    });
    while (Packet *const packet = take(port)) discard(packet);
    tasks_.each([&](Task &task) {
        if (task.state == Task::State::receives && task.at == &port) deliver(task, Error::not_running);
        if (task.state == Task::State::sends && task.unsent->to == &port) {
            discard(task.unsent);
            task.unsent = nullptr;
            deliver(task, Error::not_running);
        }
        each_bit(task.named, [&](Name name) {
            Entry &e = task.names[name];
            if (e.port != &port) return;
            e.rights = dead_name;
            notify(e, name);
        });
    });
    retry_faults(); // it may have been a pager's
    release(&port);
}

/// All rights by a name; with its receive right the port dies.
void Kernel::give_up(Task &task, Name name)
{
    Port *const port = task.names[name].port;
    const bool receives = task.names[name].rights & (receive_right | port_set);
    port->references++;
    remove_right(task, name, ~0u);
    if (receives) die(*port);
    release(port);
}

rpc::Result<Name> Kernel::handle(PortAllocate, Client &client)
{
    const Name name = make_port(caller(client), false);
    return name ? rpc::Result<Name>(name) : Error::full;
}

rpc::Result<Name> Kernel::handle(PortSetAllocate, Client &client)
{
    const Name name = make_port(caller(client), true);
    return name ? rpc::Result<Name>(name) : Error::full;
}

rpc::Result<Nothing> Kernel::handle(PortInsertSend, Client &client, Name name)
{
    Task &task = caller(client);
    if (!entry(task, name)) return Error::not_found;
    Port *const port = right(task, name, receive_right);
    if (!port) return Error::denied;
    add_right(task, port, send_right);
    return Nothing{};
}

rpc::Result<Nothing> Kernel::handle(PortDeallocate, Client &client, Name name)
{
    Task &task = caller(client);
    if (!entry(task, name)) return Error::not_found;
    give_up(task, name);
    return Nothing{};
}

rpc::Result<Nothing> Kernel::handle(PortMoveMember, Client &client, Name member, Name set)
{
    Task &task = caller(client);
    Port *const port = right(task, member, receive_right), *const to = right(task, set, port_set);
    if (!entry(task, member) || (set && !entry(task, set))) return Error::not_found;
    if (!port || (set && !to)) return Error::denied;
    port->set = to;
    return Nothing{};
}

rpc::Result<Nothing> Kernel::handle(PortNotify, Client &client, Name name, Name to)
{
    Task &task = caller(client);
    Entry *const e = entry(task, name);
    if (!e || !entry(task, to)) return Error::not_found;
    Port *const port = right(task, to, receive_right);
    if (!port) return Error::denied;
    if (e->notify) release(e->notify);
    e->notify = port;
    port->references++;
    if (e->rights == dead_name) notify(*e, name);
    return Nothing{};
}

Kernel::Service *Kernel::service_of(const rpc::Name &name)
{
    for (Service &one : services_)
        if (one.port && one.name == name) return &one;
    return nullptr;
}

rpc::Result<Nothing> Kernel::handle(CheckIn, Client &client, const rpc::Name &name, Name port_name)
{
    Task &task = caller(client);
    Port *const port = right(task, port_name, receive_right);
    if (!task.program || !port) return Error::denied;
    for (Service &one : services_)
        if (one.port && one.port->dead) release(one.port), one = {};
    if (service_of(name)) return Error::full;
    for (Service &one : services_) {
        if (one.port) continue;
        one = {name, port};
        port->references++;
        return Nothing{};
    }
    return Error::full;
}

rpc::Result<Name> Kernel::handle(LookUp, Client &client, const rpc::Name &name)
{
    const Service *const found = service_of(name);
    if (!found || found->port->dead) return Error::not_found;
    const Name right_name = add_right(caller(client), found->port, send_right);
    return right_name ? rpc::Result<Name>(right_name) : Error::full;
}

rpc::Result<Word> Kernel::handle(PortType, Client &client, Name name)
{
    const Entry *const e = entry(caller(client), name);
    return e ? rpc::Result<Word>(e->rights) : Error::not_found;
}

} // namespace mach
