// SPDX-License-Identifier: BSD-2-Clause
#include <rpc/rpc.h>

namespace rpc {

const char *describe(Error error)
{
    switch (error) {
    case Error::none: return "no error";
    case Error::dead: return "the server is gone";
    case Error::unknown: return "no such operation";
    case Error::malformed: return "a malformed message";
    case Error::denied: return "not allowed";
    case Error::not_found: return "not found";
    case Error::no_memory: return "out of memory";
    case Error::full: return "too many";
    case Error::bad_value: return "a bad value";
    case Error::not_running: return "the server does not run";
    case Error::failed: return "the device has failed";
    case Error::later: break;
    }
    return "an unknown error";
}

} // namespace rpc
