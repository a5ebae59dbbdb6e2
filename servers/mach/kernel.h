// SPDX-License-Identifier: BSD-2-Clause
// What Mach's kernel does, here as a server: the operations of interfaces/mach.h on ports, memory and tasks. It waits
// for nobody: a task that has to wait is answered later.
#pragma once

#include "port.h"

namespace mach {

class Kernel : private PortUser {
public:
    bool begin() { return store_.begin(pool_pages); }

    /// The task of a thread; nullptr: none.
    Task *task_of(L4_ThreadId_t thread);
    Word number_of(const Task &task) const { return tasks_.number_of(task); }
    /// A task's fault: true if the message registers hold the answer. Its end, if it has no such memory.
    bool fault(Task &task, Word address, bool write);
    /// Whose answer is in the message registers and has not been sent, so that one system call sends it and waits for
    /// the next message; nilthread: nobody's.
    L4_ThreadId_t take_loaded();
    /// A task that has waited does not wait any more, and asks for something else.
    void interrupted(Task &task);
    /// Ends a task, after a line that says why.
    void crash(Task &task, const char *what, Word ip);
    /// One of init's programs has ended: if it has booted the tasks, they end with it; if it has joined, it leaves.
    void program_ended(Word program);

    /// How long the server waits for a message: until the first of those that wait for a pager has waited enough, who
    /// are ended then. ZeroTime: now.
    L4_Time_t patience() const;
    void end_overdue();

    using Client = rpc::Client; ///< whose number is the task's here
    rpc::Result<Name> handle(PortAllocate, Client &);
    rpc::Result<Name> handle(PortSetAllocate, Client &);
    rpc::Result<Nothing> handle(PortInsertSend, Client &, Name name);
    rpc::Result<Nothing> handle(PortDeallocate, Client &, Name name);
    rpc::Result<Nothing> handle(PortMoveMember, Client &, Name member, Name set);
    rpc::Result<Nothing> handle(PortNotify, Client &, Name name, Name notify);
    rpc::Result<Word> handle(PortType, Client &, Name name);
    rpc::Result<Nothing> handle(CheckIn, Client &, const rpc::Name &service, Name port);
    rpc::Result<Name> handle(LookUp, Client &, const rpc::Name &service);
    rpc::Result<Nothing> handle(Send, Client &, const Message &message, Wait wait);
    rpc::Result<Message> handle(Receive, Client &, Name name, Wait wait);
    rpc::Result<Message> handle(Call, Client &, const Message &message, Name name);
    rpc::Result<Word> handle(VmAllocate, Client &, Word bytes);
    rpc::Result<Nothing> handle(VmDeallocate, Client &, Word address);
    rpc::Result<Word> handle(VmMap, Client &, Name pager, Word bytes, Word offset, Word copy);
    rpc::Result<Nothing> handle(VmInherit, Client &, Word address, Inheritance kind);
    rpc::Result<Nothing> handle(DataProvided, Client &, Name port, Word object, Word offset, Word address);
    rpc::Result<Nothing> handle(Flush, Client &, Name port, Word object);
    rpc::Result<Nothing> handle(DataError, Client &, Name port, Word object, Word offset);
    rpc::Result<Name> handle(TaskCreate, Client &, Word ip, Word sp, Name bootstrap);
    rpc::Result<Nothing> handle(TaskTerminate, Client &, Name task, Word code);
    rpc::Result<Statistics> handle(GetStatistics, Client &);
    rpc::Result<Word> handle(Boot, Client &, Word handle, Word address, Word pages, Word ip, Word sp);
    rpc::Result<Nothing> handle(Join, Client &, Word handle, Word address, Word pages);

private:
    /// What the server does behind a delivery: more, which may change the message registers, or it waits for a message.
    enum class Then { goes_on, waits };
    static constexpr Word pool_pages = 512;
    static constexpr Word most_window = 1024; ///< pages
    struct Service {
        rpc::Name name;
        Port *port = nullptr;
    };

    Task &caller(const Client &client) { return *tasks_.by_number(client.program); }

    // names
    Entry *entry(Task &task, Name name);
    Port *right(Task &task, Name name, Word kind);
    Name add_right(Task &task, Port *port, Word rights);
    void remove_right(Task &task, Name name, Word rights);
    void give_up(Task &task, Name name);
    Name make_port(Task &task, bool set);
    Service *service_of(const rpc::Name &name);
    void release(Port *port) override;
    void die(Port &port);
    void notify(Entry &entry, Name name);

    // messages
    rpc::Result<Packet *> pack(Task &task, const Message &message);
    rpc::Error pack_rights(Task &task, const Message &message, Packet &packet);
    rpc::Error pack_memory(Task &task, const Message &message, Packet &packet);
    Message unpack(Task &task, Packet &packet);
    Memory unpack_memory(Task &task, Region region);
    void discard(Packet *packet);
    rpc::Error post(Packet *packet, Then then = Then::goes_on);
    Packet *take(Port &at);
    void deliver(Task &task, const rpc::Result<Message> &result, Then then = Then::goes_on);
    Task *receiver_at(Port &port);
    void enqueue(Packet *packet);
    void let_senders_go_on(Port &port);
    rpc::Error send(Task &task, const Message &message, Wait wait, Then then = Then::goes_on);
    rpc::Result<Message> receive(Task &task, Name name, Wait wait, bool calls);
    /// False if there is no room for the message, or nobody to get it.
    bool tell(Port &port, Word id, Word first, Word second, Word third, Region *memory);

    // memory
    Region *region_at(Task &task, Word address);
    Word place_for(Task &task, Word pages);
    Region *add_region(Task &task, const Region &region);
    void remove_region(Region &region);
    bool resolve(Task &task, L4_MapItem_t &item);
    void retry_faults();
    Object *object_of(Task &pager, Name port, Word number);
    bool return_modified(Object &object);
    bool return_object(Object &object) override;

    // tasks
    Task *add_task(L4_ThreadId_t thread);
    Task *make_task();
    void end_task(Task &task, Word code);
    bool start_task(Task &task, Word ip, Word sp);

    Store store_{*this};
    Pool<Port, 64> ports_;
    Pool<Packet, 64> packets_;
    Pool<Task, 12> tasks_;
    Service services_[8] = {};
    bool returning_ = false;         ///< an object waits until there is room to return its pages
    L4_ThreadId_t loaded_ = {};      ///< see take_loaded
    L4_Clock_t first_until_ = {};    ///< the first of Task::until of those that wait for a pager; 0: nobody does
    Task *first_ = nullptr;          ///< the one that was booted
    L4_ThreadId_t awaiting_ = {};    ///< who is told of its end
    Word booted_by_ = 0;             ///< that program and its start, as init knows them
};

} // namespace mach
