#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "compiler/frontend/hlo/module.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/operator.h"

namespace systole::hlo {

/// Reads a file that holds a serialized HloModuleProto, gzip or not. Throws ModelError, in one line that
/// begins with the path.
Module read_module(const std::filesystem::path& path);

/// Reads a module from its bytes, gzip or not. Throws ModelError in one line.
Module parse_module(std::string_view bytes);

/// A module as text, for tests and for people: one instruction a line, computations in their order. Constants
/// of more than eight elements are shown by the first ones and a checksum of all.
std::string to_text(const Module& module);

/// The program as a graph of primitives on words, whose batch is the replica: inputs and outputs are 1 x
/// their dimensions, and replicas are the images of a batch. Throws ModelError, in one line with the
/// instruction, for what is not compiled.
ir::Graph to_graph(const Module& module, const ir::OperatorSet& operators);

/// Reads the program in a file. Throws ModelError, in one line that begins with the path.
ir::Graph read_hlo(const std::filesystem::path& path, const ir::OperatorSet& operators);

/// Whether a file that begins like this may be a serialized HloModuleProto: its first field is a name. No
/// other network is read from gzip.
bool is_hlo(std::string_view head);

}  // namespace systole::hlo
