// SPDX-License-Identifier: BSD-2-Clause
// The parts of a disk that the driver's arguments name: `SERVICE=FIRST+BLOCKS`, or `SERVICE=FIRST+` for all that
// follow. Each service of the driver's `provides` is one.
#pragma once

#include <interfaces/init.h>

#include <cobnut/options.h>

namespace ide {

class Parts {
public:
    static constexpr rpc::Word most = 8, none = ~0u;

    struct Part {
        rpc::Name name;
        rpc::Word first = 0, blocks = 0;
    };

    /// Reads the words of the arguments that are not `drive=`; the disk has so many blocks. False if one of them is
    /// not what it should be, or not on the disk.
    bool read(const char *arguments, rpc::Word blocks);

    rpc::Word find(const rpc::Name &name) const;
    const Part &operator[](rpc::Word number) const { return parts_[number]; }
    rpc::Word count() const { return count_; }

private:
    bool add(cobnut::Text name, cobnut::Text range, rpc::Word blocks);

    Part parts_[most] = {};
    rpc::Word count_ = 0;
};

} // namespace ide
