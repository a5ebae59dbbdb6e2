// SPDX-License-Identifier: BSD-2-Clause
// Tasks and their memory.
#include "kernel.h"

#include <cobnut/pager.h>
#include <cobnut/program.h>
#include <cobnut/space.h>
#include <system/system.h>

extern "C" void *memset(void *, int, size_t);

namespace mach {

using cobnut::ask_init;
using rpc::Error;

// ------------------------------------------------------------------------------------------------------------ memory

Region *Kernel::region_at(Task &task, Word address)
{
    for (Region &region : task.regions)
        if (region.has(address)) return &region;
    return nullptr;
}

/// Where so many pages are free in the task; 0: nowhere.
Word Kernel::place_for(Task &task, Word pages)
{
    Word address = task.low;
    for (bool moved = true; moved;) {
        moved = false;
        for (const Region &r : task.regions) {
            const Word end = r.address + r.count * page_size;
            if (!r.count || address >= end || address + pages * page_size <= r.address) continue;
            address = end;
            moved = true;
        }
    }
    return pages <= Object::most_pages && address + pages * page_size <= task.high ? address : 0;
}

Region *Kernel::add_region(Task &task, const Region &region)
{
    for (Region &one : task.regions) {
        if (one.count) continue;
        one = region;
        return &one;
    }
    return nullptr;
}

/// The task loses it. What other tasks see of the same pages, they find again.
void Kernel::remove_region(Region &region)
{
    store_.unmap(region);
    store_.release(region.object);
    region = {};
}

/// The item that answers the task's fault, if there is one yet; the pager is asked for what is not there. A task that
/// cannot be helped is ended.
bool Kernel::resolve(Task &task, L4_MapItem_t &item)
{
    Region *const region = region_at(task, task.address);
    const Resolved found = region ? store_.resolve(*region, task.address, task.write) : Resolved{};
    if (found.found == Found::page) {
        const Word rights = found.writable ? L4_FullyAccessible : L4_ReadeXecOnly;
        item = L4_MapItem(L4_FpageLog2(found.page, 12) + rights, task.address & -page_size);
        return true;
    }
    if (found.found == Found::pager && !found.object->pager->dead) {
        task.state = Task::State::faults;
        if (!task.until.raw) task.until.raw = L4_SystemClock().raw + pager_timeout_us;
        if (!first_until_.raw || task.until.raw < first_until_.raw) first_until_ = task.until;
        bool &asked = found.object->asked[found.place];
        if (!asked) {
            const Word number = store_.number_of(*found.object);
            asked = tell(*found.object->pager, data_request, number, found.place * page_size, page_size, nullptr);
        }
        return false;
    }
    const bool full = found.found == Found::no_memory;
    crash(task,
          full                          ? "out of memory"
          : found.found == Found::pager ? "its pager is gone"
                                        : "no memory there",
          task.address);
    return false;
}

bool Kernel::fault(Task &task, Word address, bool write)
{
    task.address = address;
    task.write = write;
    task.until = {};
    L4_MapItem_t item;
    if (!resolve(task, item)) return false;
    cobnut::load_answer(item);
    return true;
}

void Kernel::retry_faults()
{
    first_until_ = {}; // of those that wait on it is found anew
    tasks_.each([&](Task &task) {
        L4_MapItem_t item;
        if (task.state != Task::State::faults) return;
        task.state = Task::State::running;
        if (!resolve(task, item)) return;
        cobnut::load_answer(item);
        L4_Reply(task.thread);
    });
}

L4_Time_t Kernel::patience() const
{
    if (!first_until_.raw) return L4_Never;
    const L4_Clock_t now = L4_SystemClock();
    return now.raw < first_until_.raw ? L4_TimePeriod(first_until_.raw - now.raw) : L4_ZeroTime;
}

void Kernel::end_overdue()
{
    const L4_Clock_t now = L4_SystemClock();
    tasks_.each([&](Task &task) {
        if (task.state == Task::State::faults && task.until.raw <= now.raw)
            crash(task, "its pager does not answer", task.address);
    });
    retry_faults();
}

rpc::Result<Word> Kernel::handle(VmAllocate, Client &client, Word bytes)
{
    Task &task = caller(client);
    const Word count = (bytes + page_size - 1) / page_size;
    Region region = {place_for(task, count), count, nullptr, 0};
    if (!count || !region.address) return Error::bad_value;
    if (task.program) memset(reinterpret_cast<void *>(task.shown(region.address)), 0, count * page_size);
    else if (!(region.object = store_.make(count))) return Error::full;
    if (add_region(task, region)) return region.address;
    store_.release(region.object);
    return Error::full;
}

rpc::Result<Nothing> Kernel::handle(VmDeallocate, Client &client, Word address)
{
    Region *const region = region_at(caller(client), address);
    if (!region || region->address != address) return Error::not_found;
    remove_region(*region);
    return Nothing{};
}

rpc::Result<Word> Kernel::handle(VmMap, Client &client, Name pager, Word bytes, Word offset, Word copy)
{
    Task &task = caller(client);
    if (task.program) return Error::denied;
    if (!entry(task, pager)) return Error::not_found;
    Port *const port = right(task, pager, send_right);
    if (!port) return Error::denied;
    const Word count = bytes / page_size, first = offset / page_size;
    Region region = {place_for(task, count), count, nullptr, first};
    const bool bad = !count || !region.address || bytes % page_size || offset % page_size ||
                     first >= Object::most_pages || count > Object::most_pages - first;
    if (bad) return Error::bad_value;
    bool made = false;
    if (!(region.object = store_.of_pager(port, made))) return Error::full;
    if (made) port->references++;
    region.needs_copy = copy;
    region.inheritance = copy ? Inheritance::copy : Inheritance::share;
    if (add_region(task, region)) return region.address;
    store_.release(region.object);
    return Error::full;
}

rpc::Result<Nothing> Kernel::handle(VmInherit, Client &client, Word address, Inheritance kind)
{
    Task &task = caller(client);
    if (task.program) return Error::denied;
    Region *const region = region_at(task, address);
    if (!region) return Error::not_found;
    if (kind > Inheritance::none) return Error::bad_value;
    region->inheritance = kind;
    return Nothing{};
}

/// The object of that number, if the caller is its pager; otherwise nullptr.
Object *Kernel::object_of(Task &pager, Name name, Word number)
{
    const Port *const port = right(pager, name, receive_right);
    Object *const object = store_.by_number(number);
    return port && object && object->pager == port ? object : nullptr;
}

rpc::Result<Nothing> Kernel::handle(DataProvided, Client &client, Name name, Word number, Word offset, Word address)
{
    Task &task = caller(client);
    Object *const object = object_of(task, name, number);
    if (!object) return Error::denied;
    if (offset / page_size >= object->count) return Error::bad_value;
    Word from = 0;
    if (address) {
        Region *const region = region_at(task, address);
        if (!region || address % page_size) return Error::bad_value;
        const Resolved found =
            task.program ? Resolved{Found::page, task.shown(address)} : store_.resolve(*region, address, false);
        if (found.found != Found::page) return Error::bad_value;
        from = found.page;
    }
    if (!store_.provide(*object, offset / page_size, from)) return Error::no_memory;
    retry_faults();
    return Nothing{};
}

rpc::Result<Nothing> Kernel::handle(DataError, Client &client, Name name, Word number, Word offset)
{
    Object *const object = object_of(caller(client), name, number);
    if (!object) return Error::denied;
    if (offset / page_size >= object->count) return Error::bad_value;
    object->asked[offset / page_size] = false;
    tasks_.each([&](Task &task) {
        Region *const region = task.state == Task::State::faults ? region_at(task, task.address) : nullptr;
        const Resolved found = region ? store_.resolve(*region, task.address, task.write) : Resolved{};
        if (found.found == Found::pager && found.object == object && found.place == offset / page_size)
            crash(task, "its pager has no such page", task.address);
    });
    return Nothing{};
}

/// False if there was no room for all: the others are still there.
bool Kernel::return_modified(Object &object)
{
    for (Word place = 0; !packets_.full();) {
        Region run = {0, 0, store_.take_modified(object, place), 0};
        if (!run.object) return place == object.count;
        run.count = run.object->count;
        tell(*object.pager, data_return, store_.number_of(object), place * page_size, run.count * page_size, &run);
    }
    return false;
}

bool Kernel::return_object(Object &object)
{
    if (object.pager->dead) return true;
    const bool done =
        return_modified(object) && tell(*object.pager, object_terminated, store_.number_of(object), 0, 0, nullptr);
    returning_ = returning_ || !done;
    return done;
}

rpc::Result<Nothing> Kernel::handle(Flush, Client &client, Name name, Word number)
{
    Object *const object = object_of(caller(client), name, number);
    if (!object) return Error::denied;
    store_.drop_clean(*object);
    if (!return_modified(*object)) return Error::full;
    return Nothing{};
}

// ------------------------------------------------------------------------------------------------------------- tasks

Task *Kernel::task_of(L4_ThreadId_t thread)
{
    Task *found = nullptr;
    tasks_.each([&](Task &task) {
        if (task.thread == thread) found = &task;
    });
    return found;
}

/// With a port of its own, and nothing else; nullptr: there is no room.
Task *Kernel::add_task(L4_ThreadId_t thread)
{
    Task *const task = tasks_.take();
    Port *const self = ports_.take();
    if (task && self) {
        self->references = 1;
        self->task = task;
        task->self = self;
        task->thread = thread;
        return task;
    }
    if (task) tasks_.give_back(*task);
    if (self) ports_.give_back(*self);
    return nullptr;
}

/// In a space of its own.
Task *Kernel::make_task()
{
    const auto thread = ask_init<init::MakeSpace>();
    Task *const task = thread ? add_task(L4_ThreadId_t{.raw = thread.value}) : nullptr;
    if (thread && !task) ask_init<init::EndSpace>(thread.value);
    return task;
}

void Kernel::end_task(Task &task, Word code)
{
    if (task.unsent) discard(task.unsent);
    task.unsent = nullptr;
    task.state = Task::State::running;
    each_bit(task.named, [&](Name name) {
        if (name) give_up(task, name);
    });
    if (task.program) ask_init<init::Detach>(task.window);
    else ask_init<init::EndSpace>(task.thread.raw);
    for (Region &region : task.regions)
        if (region.count) remove_region(region);
    task.self->task = nullptr;
    die(*task.self);
    release(task.self);
    tasks_.give_back(task);
    if (&task != first_) return;
    first_ = nullptr;
    rpc::answer<Boot>(awaiting_, code);
}

void Kernel::program_ended(Word program)
{
    const bool booter = first_ && booted_by_ == program;
    tasks_.each([&](Task &task) {
        if (task.program ? task.program == program : booter) end_task(task, 1);
    });
}

void Kernel::crash(Task &task, const char *what, Word where)
{
    cobnut::print("mach: task %u: ended: %s, %08x\n", tasks_.number_of(task), what, where);
    end_task(task, 1);
}

rpc::Result<Name> Kernel::handle(TaskCreate, Client &client, Word ip, Word sp, Name bootstrap)
{
    Task &parent = caller(client);
    if (parent.program) return Error::denied;
    Port *const port = right(parent, bootstrap, receive_right);
    if (bootstrap && !port) return entry(parent, bootstrap) ? Error::denied : Error::not_found;
    Task *const child = make_task();
    if (!child) return Error::full;
    if (port) add_right(*child, port, send_right);
    bool whole = true;
    for (Region &region : parent.regions) {
        if (!region.count || region.inheritance == Inheritance::none) continue;
        const Region its = region.inheritance == Inheritance::share ? store_.shared_with(region)
                                                                    : store_.copy_of(region, 0, region.count);
        whole = whole && its.object;
        if (its.object) add_region(*child, its);
    }
    const Name name = whole ? add_right(parent, child->self, send_right) : 0;
    if (name && !cobnut_start(child->thread, ip, sp)) return name;
    end_task(*child, 1);
    return whole ? Error::full : Error::no_memory;
}

rpc::Result<Nothing> Kernel::handle(TaskTerminate, Client &client, Name name, Word code)
{
    Task &task = caller(client);
    const Port *const port = name ? right(task, name, send_right) : task.self;
    if (!port || !port->task) return entry(task, name) ? Error::denied : Error::not_found;
    const bool is_answered = port->task != &task || task.program;
    end_task(*port->task, code);
    if (!is_answered) return Error::later;
    return Nothing{};
}

rpc::Result<Statistics> Kernel::handle(GetStatistics, Client &)
{
    return Statistics{store_.free_pages(), ports_.used(), packets_.used(), store_.object_count(), tasks_.used()};
}

rpc::Result<Word> Kernel::handle(Boot, Client &client, Word handle, Word address, Word pages, Word ip, Word sp)
{
    if (first_) return Error::full;
    if (!pages || pages > Object::most_pages || address % page_size) return Error::bad_value;
    const auto size = ask_init<init::Shared>(handle, client.thread.raw, Word{0});
    if (!size) return size.error;
    if (pages > size.value) return Error::bad_value;
    const auto from = ask_init<init::Attach>(handle, Word{0}, Word{0});
    if (!from) return from.error;
    Task *const task = make_task();
    Object *const object = task ? store_.copied_from(from.value, pages) : nullptr;
    ask_init<init::Detach>(from.value);
    if (object) add_region(*task, {address, pages, object, 0});
    awaiting_ = client.thread;
    booted_by_ = client.program;
    if (object && !cobnut_start(task->thread, ip, sp)) {
        first_ = task;
        return Error::later;
    }
    if (task) end_task(*task, 1);
    return Error::no_memory;
}

rpc::Result<Nothing> Kernel::handle(Join, Client &client, Word handle, Word address, Word pages)
{
    if (!pages || pages > most_window || !address || address % page_size || address > -pages * page_size)
        return Error::bad_value;
    const auto size = ask_init<init::Shared>(handle, client.thread.raw, Word{1});
    if (!size) return size.error;
    if (pages > size.value) return Error::bad_value;
    const auto at = ask_init<init::Attach>(handle, Word{0}, Word{1});
    if (!at) return at.error;
    Task *const task = add_task(client.thread);
    if (!task) {
        ask_init<init::Detach>(at.value);
        return Error::full;
    }
    task->program = client.program;
    task->window = at.value;
    task->low = address;
    task->high = address + pages * page_size;
    return Nothing{};
}

} // namespace mach
