// SPDX-License-Identifier: BSD-2-Clause
// An external pager of Mach's that keeps two pages in its own memory, and misbehaves, as its paths say, when it is
// asked for one: `fails`, it has no such page; `sleeps`, it answers nobody for a second more than anybody waits;
// `dies`.
#include <mach/pager.h>

#include <cobnut/program.h>
#include <l4/schedule.h>

extern "C" void *memcpy(void *, const void *, size_t);

namespace {

using rpc::Word;

class BadBacking : public mach::Backing {
public:
    rpc::Result<Word> open(Word number, const Path &path) override
    {
        paths_[number] = path;
        return Word{sizeof kept_};
    }

    bool read(Word number, Word offset, char *to, Word bytes) override
    {
        const Path &path = paths_[number];
        if (path == "dies") cobnut::exit(1);
        if (path == "sleeps") L4_Sleep(L4_TimePeriod(mach::pager_timeout_us + 1'000'000));
        memcpy(to, kept_ + offset, bytes);
        return !(path == "fails");
    }

    bool write(Word, Word offset, const char *from, Word bytes) override { return memcpy(kept_ + offset, from, bytes); }

private:
    Path paths_[most] = {};
    char kept_[2 * mach::page_size] = {};
};

constinit BadBacking pages;

} // namespace

int cobnut_main(const char *) { return mach::serve_objects("badpager", pages); }
