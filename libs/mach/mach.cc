// SPDX-License-Identifier: BSD-2-Clause
#include "mach.h"

#include <system/system.h>

#include <l4/schedule.h>

extern "C" void *memcpy(void *, const void *, size_t);
extern "C" char image_start[], image_end[];

namespace mach {
namespace {

using Entry = int (*)();
constinit Entry entry_point = nullptr;
alignas(16) constinit char first_stack[16384] = {};

[[noreturn]] void first_task()
{
    L4_Set_ExceptionHandler(L4_Pager());
    exit(static_cast<Word>(entry_point()));
}

} // namespace

rpc::Result<Word> boot(int (*entry)())
{
    const auto server = cobnut::ask_init<init::Open>(init::Name("mach"));
    if (!server) return server.error;
    entry_point = entry;
    const Word bytes = static_cast<Word>(image_end - image_start), pages = (bytes + page_size - 1) / page_size;
    const auto image = cobnut::ask_init<init::Create>(pages);
    if (!image) return image.error;
    const auto at = cobnut::ask_init<init::Attach>(image.value, Word{0}, Word{1});
    if (!at) return at.error;
    memcpy(reinterpret_cast<void *>(at.value), image_start, bytes);
    cobnut::ask_init<init::Pass>(image.value, server.value, Word{0});
    const L4_ThreadId_t kernel = {.raw = server.value};
    const Word top = reinterpret_cast<Word>(first_stack + sizeof first_stack - 16);
    return rpc::call<Boot>(kernel, image.value, reinterpret_cast<Word>(image_start), pages,
                           reinterpret_cast<Word>(first_task), top);
}

/// A name, or an error in the upper half.
extern "C" Word mach_create_task(Word ip, Word sp, Name bootstrap)
{
    const auto made = ask<TaskCreate>(ip, sp, bootstrap);
    return made ? made.value : static_cast<Word>(made.error) << 16;
}

extern "C" Word mach_fork(Name bootstrap);

rpc::Result<Name> fork(Name bootstrap)
{
    const Word result = mach_fork(bootstrap);
    if (!result) L4_Set_ExceptionHandler(L4_Pager());
    if (result >> 16) return static_cast<rpc::Error>(result >> 16);
    return result;
}

bool is_there(const char *service)
{
    for (int i = 0; i < 1000; i++) {
        const auto found = ask<LookUp>(rpc::Name(service));
        if (found) return bool(ask<PortDeallocate>(found.value));
        L4_Sleep(L4_TimePeriod(10'000));
    }
    return false;
}

rpc::Result<Opened> open_object(const char *service, const char *path)
{
    const auto pager = ask<LookUp>(rpc::Name(service));
    if (!pager) return pager.error;
    const auto reply = ask<PortAllocate>();
    if (!reply) return reply.error;
    Message m;
    m.port = pager.value;
    m.reply = reply.value;
    m.id = open_request;
    m.word_count = Message::most_words;
    for (Word i = 0; path[i] && i < sizeof m.words; i++) reinterpret_cast<char *>(m.words)[i] = path[i];
    const auto answer = ask<Call>(m, reply.value);
    ask<PortDeallocate>(reply.value);
    ask<PortDeallocate>(pager.value);
    if (!answer) return answer.error;
    const auto error = static_cast<rpc::Error>(answer.value.words[0]);
    if (error != rpc::Error::none) return error;
    return Opened{answer.value.rights[0].name, answer.value.words[1]};
}

rpc::Result<Mapped> map_object(const char *service, const char *path, bool copy)
{
    const auto opened = open_object(service, path);
    if (!opened) return opened.error;
    const Word pages = (opened.value.bytes + page_size - 1) / page_size;
    const auto at = ask<VmMap>(opened.value.object, pages * page_size, Word{0}, Word{copy});
    ask<PortDeallocate>(opened.value.object);
    if (!at) return at.error;
    return Mapped{at.value, opened.value.bytes};
}

void exit(Word code)
{
    for (;;) ask<TaskTerminate>(Name{0}, code);
}

} // namespace mach
