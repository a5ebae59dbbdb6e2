// SPDX-License-Identifier: BSD-2-Clause
#include "description.h"

namespace init {
namespace {

using cobnut::split, cobnut::Text;

rpc::Name name_of(Text text) { return {text.data, text.size}; }

template <typename Visit> bool each(Text list, Visit visit)
{
    while (list.size)
        if (!visit(split(list, '+'))) return false;
    return true;
}

bool read_ranges(Text list, Range *ranges, size_t &count)
{
    return each(list, [&](Text text) {
        if (count == Description::most_ranges) return false;
        Range &range = ranges[count++];
        const Text first = split(text, '-');
        return cobnut::parse_number(first, range.first) && cobnut::parse_number(text, range.last);
    });
}

bool read_services(Text list, Services &services, Word &bits)
{
    return each(list, [&](Text name) {
        const Word number = services.number_of(name);
        if (number < Services::most) bits |= 1u << number;
        return number < Services::most;
    });
}

} // namespace

Word Services::number_of(Text name)
{
    const rpc::Name wanted = name_of(name);
    const Word known = find(wanted);
    if (known < most || count_ == most) return known;
    names_[count_] = wanted;
    return count_++;
}

Word Services::find(const rpc::Name &name) const
{
    for (Word i = 0; i < count_; i++)
        if (names_[i] == name) return i;
    return most;
}

bool Description::read(const char *command_line, Services &services)
{
    const cobnut::Options options(command_line);
    bool bad = false;
    name = name_of(options.find("name"));
    priority = options.number("priority", priority, &bad);
    memory = options.number("memory", memory, &bad);
    stack = options.number("stack", stack, &bad);
    restart = options.number("restart", restart, &bad);
    start = options.number("start", start, &bad);
    ends = options.number("ends", ends, &bad);
    device = options.number("device", device, &bad);
    dma = options.number("dma", dma, &bad);
    framebuffer = options.number("framebuffer", framebuffer, &bad);
    bad |= (framebuffer & (framebuffer - 1)) != 0;
    files = options.find("files");
    bad |= !read_services(options.find("provides"), services, provides);
    bad |= !read_services(options.find("uses"), services, uses);
    bad |= !read_ranges(options.find("ports"), ports, port_ranges);
    bad |= !read_ranges(options.find("registers"), registers, register_ranges);
    bad |= register_ranges + (framebuffer != 0) > Device::most_ranges;
    bad |= !each(options.find("lines"), [&](Text text) {
        unsigned line = 0;
        if (!cobnut::parse_number(text, line) || line >= 32) return false;
        lines |= 1u << line;
        return true;
    });
    Text slot = options.find("slot");
    large = slot == "large";
    if (slot && !large) {
        const Text size = split(slot, '@');
        bad |= !cobnut::parse_number(size, slot_mb) || (slot.size && !cobnut::parse_number(slot, slot_offset_mb));
    }
    const char *p = command_line;
    while (*p && !(p[0] == ' ' && p[1] == '-' && p[2] == '-' && (p[3] == ' ' || !p[3]))) p++;
    if (*p) {
        p += 3;
        arguments = *p ? p + 1 : p;
    }
    return !bad && name.size;
}

bool Description::may_use_file(const rpc::Name &file) const
{
    return !each(files, [&](Text name) { return !(name_of(name) == file); });
}

bool Description::may_use_port(Word port) const
{
    for (size_t i = 0; i < port_ranges; i++)
        if (ports[i].contains(port)) return true;
    return false;
}

rpc::Name file_name(const char *command_line)
{
    const Text name = cobnut::Options(command_line).find("file");
    return name_of(name);
}

} // namespace init
