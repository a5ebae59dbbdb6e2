// SPDX-License-Identifier: BSD-2-Clause
// What the driver has been asked for and has not answered yet, in the order in which it was asked.
#pragma once

#include "drive.h"

#include <rpc/rpc.h>

namespace ide {

struct Request {
    rpc::Client client;
    Command command;
    rpc::Word block, count; ///< of the disk
    char *memory;
};

class Requests {
public:
    static constexpr rpc::Word most = 32, nobody = ~rpc::Word{0};

    bool empty() const { return !count_; }
    bool full() const { return count_ == most; }
    Request &first() { return queue_[first_]; }
    void add(const Request &request) { queue_[(first_ + count_++) % most] = request; }
    void remove_first()
    {
        first_ = (first_ + 1) % most;
        count_--;
    }
    bool has(rpc::Word program) const
    {
        for (rpc::Word i = 0; i < count_; i++)
            if (queue_[(first_ + i) % most].client.program == program) return true;
        return false;
    }
    /// Forgets those of a program, one of whose starts has ended. True if the first one was its: that is at work, and
    /// nobody's from now on.
    bool forget(rpc::Word program)
    {
        if (empty()) return false;
        rpc::Word kept = 1;
        for (rpc::Word i = 1; i < count_; i++) {
            const Request &request = queue_[(first_ + i) % most];
            if (request.client.program != program) queue_[(first_ + kept++) % most] = request;
        }
        count_ = kept;
        if (first().client.program != program) return false;
        first().client = {L4_nilthread, nobody};
        return true;
    }

private:
    Request queue_[most] = {};
    rpc::Word first_ = 0, count_ = 0;
};

} // namespace ide
