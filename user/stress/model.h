// SPDX-License-Identifier: BSD-2-Clause
// The shadow model of a family's mappings (mapping_model.h).
#ifndef COBNUT_STRESS_MODEL_H
#define COBNUT_STRESS_MODEL_H
#include "../model/mapping_model.h"

namespace stress {

using model::all, model::execute, model::read, model::write;
using model::Node, model::Rights, model::Status, model::Word;

inline constexpr Word spaces = 4;  ///< of a family
inline constexpr Word places = 12; ///< of a space: where pages can be mapped
inline constexpr Word pages = 16;  ///< of a family; they are the root space's

using Model = model::Mappings<spaces, places, pages>;
inline constexpr Node nodes = Model::nodes, nowhere = Model::nowhere;
constexpr Node root_of(Word page) { return Model::root_of(page); }
constexpr Node node_of(Word space, Word place) { return Model::node_of(space, place); }
constexpr Word space_of(Node node) { return Model::space_of(node); } ///< not for roots
constexpr bool is_root(Node node) { return Model::is_root(node); }

} // namespace stress
#endif
