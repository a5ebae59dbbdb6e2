// SPDX-License-Identifier: BSD-2-Clause
#include "pager.h"

#include <system/system.h>

#include <cobnut/payload.h>

extern "C" void *memset(void *, int, size_t);

namespace mach {
namespace {

using cobnut::ask_init;
using Path = Backing::Path;

constexpr Word window_pages = 2 * most_returned;

/// What is open: a memory object, by its port.
struct Object {
    Name port = 0;       ///< 0: not used
    bool in_use = false; ///< a page has been asked for since it was terminated last
    Word bytes = 0;
    Path path = {};

    /// How many of so many bytes at `offset` there are.
    Word bytes_at(Word offset, Word most) const
    {
        if (offset >= bytes) return 0;
        return bytes - offset < most ? bytes - offset : most;
    }
};

class Pager {
public:
    explicit Pager(Backing &backing) : backing_(backing) {}
    rpc::Error begin(const char *service);
    /// Until the server has ended.
    void serve();

private:
    template <typename Op, typename... A> rpc::Result<typename Op::Value> ask(const A &...arguments)
    {
        return rpc::call<Op>(kernel_, arguments...);
    }
    rpc::Result<Object *> open(const Path &path);
    void answer_open(const Message &m);
    void provide(Object &object, const Message &m);
    void take_back(const Object &object, const Message &m);
    Word number_of(const Object &object) const { return static_cast<Word>(&object - objects_); }

    Backing &backing_;
    L4_ThreadId_t kernel_ = {};
    Name set_ = 0, service_ = 0;
    Word buffer_ = 0; ///< a page of the window's
    Object objects_[Backing::most] = {};
};

rpc::Error Pager::begin(const char *service)
{
    const auto kernel = ask_init<init::Open>(init::Name("mach"));
    if (!kernel) return kernel.error;
    kernel_.raw = kernel.value;
    const auto window = ask_init<init::Create>(window_pages);
    if (!window) return window.error;
    const auto at = ask_init<init::Attach>(window.value, Word{0}, Word{1});
    if (!at) return at.error;
    const auto passed = ask_init<init::Pass>(window.value, kernel.value, Word{1});
    if (!passed) return passed.error;
    const auto joined = ask<Join>(window.value, at.value, window_pages);
    if (!joined) return joined.error;
    set_ = ask<PortSetAllocate>().value;
    service_ = ask<PortAllocate>().value;
    buffer_ = ask<VmAllocate>(page_size).value;
    ask<PortMoveMember>(service_, set_);
    return ask<CheckIn>(rpc::Name(service), service_).error;
}

/// An object that nobody uses gives its place to another.
rpc::Result<Object *> Pager::open(const Path &path)
{
    Object *place = nullptr;
    for (Object &one : objects_) {
        if (one.port && one.path == path) return &one;
        if (!one.in_use && (!place || !one.port)) place = &one;
    }
    if (!place) return rpc::Error::full;
    if (place->port) ask<PortDeallocate>(place->port);
    *place = {};
    const auto bytes = backing_.open(number_of(*place), path);
    if (!bytes) return bytes.error;
    const auto port = ask<PortAllocate>();
    if (!port) return port.error;
    ask<PortInsertSend>(port.value);
    ask<PortMoveMember>(port.value, set_);
    *place = {port.value, false, bytes.value, path};
    return place;
}

void Pager::answer_open(const Message &m)
{
    Path path(reinterpret_cast<const char *>(m.words), m.word_count * sizeof(Word));
    while (path.size && !path.data[path.size - 1]) path.size--;
    const auto opened = open(path);
    Message answer;
    answer.port = m.reply;
    answer.id = open_request;
    answer.word_count = 2;
    answer.words[0] = static_cast<Word>(opened.error);
    if (opened) {
        answer.words[1] = opened.value->bytes;
        answer.right_count = 1;
        answer.rights[0] = {opened.value->port, static_cast<Word>(Disposition::copy_send)};
    }
    ask<Send>(answer, Wait::no);
    ask<PortDeallocate>(m.reply);
}

/// Behind its end an object has no pages; its last one ends with zeros.
void Pager::provide(Object &object, const Message &m)
{
    const Word number = m.words[0], offset = m.words[1], bytes = object.bytes_at(offset, page_size);
    char *const page = reinterpret_cast<char *>(buffer_);
    object.in_use = true;
    memset(page + bytes, 0, page_size - bytes);
    if (bytes && backing_.read(number_of(object), offset, page, bytes))
        ask<DataProvided>(object.port, number, offset, buffer_);
    else ask<DataError>(object.port, number, offset);
}

void Pager::take_back(const Object &object, const Message &m)
{
    const Memory &memory = m.memory[0];
    for (Word done = 0; done < memory.bytes; done += page_size) {
        const Word offset = m.words[1] + done, bytes = object.bytes_at(offset, page_size);
        const char *const page = reinterpret_cast<const char *>(memory.address + done);
        if (!backing_.write(number_of(object), offset, page, bytes))
            cobnut_printf("pager: %.*s: what was written at %u is lost\n", static_cast<int>(object.path.size),
                          object.path.data, static_cast<unsigned>(offset));
    }
    ask<VmDeallocate>(memory.address);
}

void Pager::serve()
{
    for (;;) {
        const auto got = ask<Receive>(set_, Wait::yes);
        if (!got) return;
        const Message &m = got.value;
        if (m.port == service_ && m.id == open_request && m.reply) answer_open(m);
        for (Object &object : objects_) {
            if (!object.port || object.port != m.port) continue;
            if (m.id == data_request) provide(object, m);
            if (m.id == data_return) take_back(object, m);
            if (m.id == object_terminated) object.in_use = false;
        }
    }
}

} // namespace

int serve_objects(const char *service, Backing &backing)
{
    Pager pager(backing);
    const rpc::Error error = pager.begin(service);
    if (error != rpc::Error::none) cobnut_printf("%s: no pager: %s\n", service, rpc::describe(error));
    else pager.serve();
    return 1;
}

} // namespace mach
