#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/config_description.h"

/// The keys of configuration files, from the declarations that also read them.
namespace systole::schema {

/// A kind of configuration file.
struct Document {
    std::string name;    ///< "machine"
    std::string schema;  ///< "sim.machine/1", as in the files of this kind
    std::string folder;  ///< folder of the shipped files
    std::string what;    ///< a sentence
    std::vector<machine::KeyDescription> keys;
};

/// Machines, runs, baselines.
const std::vector<Document>& documents();
/// The document of this name. Throws ConfigError.
const Document& document(std::string_view name);

/// The dotted keys of a document that have a value, not an object: "matrix_unit.rows".
std::vector<std::string> key_paths(const Document& document);

/// The keys that --set takes: those of a run and, after "machine.", those of a machine.
std::vector<std::string> settable_keys();

}  // namespace systole::schema
