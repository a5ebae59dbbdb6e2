// SPDX-License-Identifier: BSD-2-Clause
// A family: one controller, a thread of the root space, which lets the threads of a few spaces do things at random and
// compares each outcome with its model. Families share nothing but the kernel: its memory, its slots, its processor.
#ifndef COBNUT_STRESS_FAMILY_H
#define COBNUT_STRESS_FAMILY_H
#include "machine.h"
#include "model.h"
#include "random.h"
#include "slots.h"

#include <cobnut/tags.h>
#include <l4/ipc.h>

namespace stress {

inline constexpr Word families_most = 4;
inline constexpr Word threads = 2; ///< of a space

/// How often what was done. `counter_names` has them in this order.
enum Counter : Word {
    operations,
    accesses,
    faults,
    maps,
    grants,
    unmaps,
    promotions,
    made_small,
    slot_reuses,
    made_large,
    peer_calls,
    thread_deletions,
    space_deletions,
    host_deletions,
    runs,
    attribute_changes,
    demotions,      ///< a large space became small: by a slot's name, by its size, by the kernel's choice
    revocations,    ///< an exclusive slot of the kernel's choice taken by a request for a place in it
    regroups,       ///< a space was bound to another leader, or to one at all
    dissolutions,   ///< a space lost its bound slot with its leader
    resizes,        ///< a space exchanged its slot for a longer or a shorter one
    grown_in_place, ///< of these: for a longer one at the same place
    executions,     ///< of code in a page
    strings,        ///< copied
    shares,         ///< two spaces had the same pages at the same addresses, and used them in turn
    numbers,        ///< of threads that were the first of theirs
    megabytes,      ///< mapped as one page, and lost as a whole or in part
    many_sections,  ///< a space used more megabytes than can stand in the page directory at a time
    counters,
};
extern const char *const counter_names[counters];

struct Worker {
    L4_ThreadId_t id = {}; ///< nil: there is none
    Word version = 0;
};

/// What the controller knows of a space's tag.
enum class Tag : Word {
    large,     ///< asked for, or promoted: it is
    slot,      ///< an exclusive slot was asked for: it is there
    bound,     ///< bound to a leader by hand: in its slot or, if the leader has given up its group, large
    automatic, ///< the kernel decides, at any time: whatever holds its pages
};

struct Space {
    Tag tag = Tag::large;
    slots::Slot slot;                 ///< slot, bound
    /// bound: a space that has said to be large; null: one that the kernel can make small
    const Space *leader = nullptr;
    Word incarnation = 0;
    L4_Fpage_t utcbs = {};            ///< where they are
    /// it gets all of it at the first fault: more pages than are invalidated one by one
    bool whole_image = false;
    Worker workers[threads];

    bool alive() const;
    bool small() const { return tag == Tag::slot || tag == Tag::bound; }
};

class Family {
public:
    /// Controllers are numbered from 0. `first_thread` is the first of the thread numbers that are this family's.
    void prepare(Word index, Word seed, Word area_mb, Word first_thread);
    /// The controller's life; ends the machine at the first thing that is wrong.
    void run(Word many);

    Word count[counters] = {};
    volatile bool done = false;

private:
    struct Expected {
        bool fault = false;    ///< the access has to raise a page fault
        bool happened = false; ///< it has
        Node node = nowhere;   ///< what the access is made to; nowhere: an address beyond a small space
        Word space = 0, thread = 0, address = 0;
        bool writes = false;
        bool fatal = false;    ///< instead of an answer to the fault, the space is deleted
    };

    // family.cc: what an operation needs
    [[noreturn]] void fail(const char *text, ...) __attribute__((format(printf, 2, 3)));
    Worker &worker(Word space, Word thread) { return spaces_[space].workers[thread]; }
    Word any_thread(Word space);
    Word any_space_but(Word space);
    Word any_call();
    Word ask(Word space, Word thread, Word what, Word x = 0, Word y = 0, Word z = 0, Word value = 0);
    Word await(Word space, Word thread);
    bool answer_fault(Word space, Word thread, L4_MsgTag_t tag);
    void answer_with(Word page, Word address, Word rights);
    void answer_with(L4_Fpage_t pages, Word base);
    bool find(L4_ThreadId_t from, Word &space, Word &thread) const;
    void create_space(Word space);
    void make_thread(Word space, Word thread);
    void create_thread(Word space, Word thread);
    void delete_thread(Word space, Word thread);
    void delete_space(Word space);
    void note_deleted(Word space);
    void dissolve(Word leader);
    volatile Word &content(Word page) const;

    // operations.cc
    void one();
    void access(Node node, bool writes, bool fatal = false);
    void access_any();
    void check_root(Word page);
    Node any_node();
    bool usable(Node node);
    void change_attribute();
    void set_attribute(Word page, Word attribute);
    void run_code();
    void map_from_root();
    void give(Word page, Node node, Word rights);
    void map_from_peer(bool grant);
    void pass(Node from, Node to, Word rights, bool grant, Word value = 0);
    Word next_value();
    void wrote(Node node, Word value);
    void widen();
    void unmap_from_root();
    void unmap_from_root(Word page, Word rights);
    void unmap_by_worker();
    void take_away(Node node);
    void call_peer();
    void change_threads();

    // tags.cc: which space has which slot; of these ARM has those that are named there
    void reached(Word space, Word address);
    bool reachable(Word space, Word place);
    Word extent(Word space) const;
    slots::Slot check_tag(Word space);
    void became(Word space, Tag tag, slots::Slot before, slots::Slot now);
    bool move(Word space, Word wanted);
    bool give_slot(Word space, Word log2_mb);
    bool leave_to_kernel(Word space);
    Word any_small();
    void spread_copies(Word space);
    void call_through(Word space);
    void access_present(Word space, Word other);
    void demote();
    void resize();
    void lose_beyond_1_mb(Word space);
    void grow();
    void succeed();
    void revoke();
    void revoke(Word space);
    void regroup();
    Word home(Word space) const;
    void exchange();
    bool bind(Word space, Word leader);
    void promote();
    void promote(Word space);
    void reach_beyond(Word space);
    void query();

    // hosts.cc: what happens to a page directory that is in force
    void delete_host();
    void demote_host();
    void succeed_bound();

    // arm/code.cc
    void write_code(Word page, Node writer);
    void prepare_code();
    void rewrite_code();
    void call_page(Node node);
    void replace_code();
    void call_any_page();

    // arm/caches.cc
    Node any_writable();
    void copy_string();
    void share();
    void share_in_the_middle();
    void write_unnoticed();
    void lose_when_moved();
    void begin_visits();
    bool visiting();
    void delete_unborn();
    void reach_behind_utcbs();
    void reach_behind_utcbs(Word space, Word whose);
    void number();

    // arm/large.cc
    Word whole_megabyte();
    void give_part(Word space, L4_Fpage_t f, Word to);
    void reach(Word space, Word address, bool writes, Word value, bool must_fault);
    void use_many_megabytes();
    void use_megabyte();

    // mix.cc: how often each of these
    void one_of_calm();
    void one_of_change(Word space);

    Random random_{1};
    Word index_ = 0, seed_ = 0, area_mb_ = 0, first_thread_ = 0;
    Model model_;
    Space spaces_[spaces];
    Word value_[pages] = {}; ///< what each page holds
    bool has_code_ = false;  ///< pages have code, which gives that
    bool complements_[pages] = {}; ///< or its complement
    Word written_ = 0;
    Expected expected_;
    bool unborn_ = false; ///< the next space is deleted before it has executed anything
};

/// A few pages lie in frames beyond the kernel's window on physical memory, if the machine has such.
constexpr bool is_far(Word page) { return page >= pages - 2 && page < pages; }
/// Where a page has the code of KernelInterface, which the kernel reads and emulates.
constexpr Word code_offset(Word page) { return 64 * (1 + page % 8); }
/// And where it has code of its own, in the line behind the one with its content.
inline constexpr Word code_at = 32, code_bytes = 20;

/// The root server's global id, and where the memory of a family is.
extern L4_ThreadId_t root_id;
Word page_address(Word family, Word page);
Word stack_of(Word family, Word space, Word thread);
/// The place that do_probe reads, below the end of every slot.
inline constexpr Word probed = 0;

} // namespace stress
#endif
