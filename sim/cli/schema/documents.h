#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/config_description.h"

/// What can be written in configuration files, from the declarations that read them.
namespace systole::schema {

/// A kind of configuration file.
struct Document {
    std::string name;    ///< "machine"
    std::string schema;  ///< "sim.machine/1", as in its files
    std::string folder;  ///< where those that are shipped are
    std::string what;    ///< a sentence
    std::vector<machine::KeyDescription> keys;
};

/// Machines, runs, baselines.
const std::vector<Document>& documents();
/// By its name. Throws ConfigError.
const Document& document(std::string_view name);

/// The dotted keys of a document that have a value of their own: "matrix_unit.rows".
std::vector<std::string> key_paths(const Document& document);

/// What --set takes: keys of a run and, behind "machine.", of a machine.
std::vector<std::string> settable_keys();

}  // namespace systole::schema
