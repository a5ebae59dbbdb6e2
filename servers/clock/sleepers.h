// SPDX-License-Identifier: BSD-2-Clause
// The threads that wait for a point in time.
#pragma once

#include <rpc/rpc.h>

namespace {

class Sleepers {
public:
    bool add(const rpc::Client &client, L4_Word64_t at)
    {
        if (count_ == most) return false;
        sleepers_[count_++] = {client, at};
        return true;
    }

    /// When the next one is to be woken; 0: nobody waits.
    L4_Word64_t next() const
    {
        L4_Word64_t least = 0;
        for (rpc::Word i = 0; i < count_; i++)
            if (!least || sleepers_[i].at < least) least = sleepers_[i].at;
        return least;
    }

    /// Takes out those for which `gone(client, at)` holds.
    template <typename Gone> void remove(Gone gone)
    {
        rpc::Word kept = 0;
        for (rpc::Word i = 0; i < count_; i++)
            if (!gone(sleepers_[i].client, sleepers_[i].at)) sleepers_[kept++] = sleepers_[i];
        count_ = kept;
    }

private:
    static constexpr rpc::Word most = 64;
    struct Sleeper {
        rpc::Client client;
        L4_Word64_t at;
    };
    Sleeper sleepers_[most] = {};
    rpc::Word count_ = 0;
};

} // namespace
