#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/config_description.h"
#include "sim/view/terminal/look.h"

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

/// Machines, runs, baselines, studies, trainings.
const std::vector<Document>& documents();
/// The document of this name. Throws ConfigError.
const Document& document(std::string_view name);

/// The dotted keys of a document that have a value, not an object: "matrix_unit.rows".
std::vector<std::string> key_paths(const Document& document);

/// The keys that --set takes: those of a run and, after "machine.", those of a machine.
std::vector<std::string> settable_keys();

/// The default of the key: a value, words, "needed" or "-".
std::string default_text(const machine::KeyDescription& key);
/// The valid values: "1 to 4096", "true or false", "wavefront or pe".
std::string values_text(const machine::KeyDescription& key);
/// The sentence of the key, and its rule with other keys.
std::string meaning_text(const machine::KeyDescription& key);

/// JSON Schema, draft 2020-12: for editors that complete and check configuration files. Rules between keys
/// are in the descriptions alone.
nlohmann::ordered_json json_schema(const Document& document);

/// The keys of a document for people.
std::string reference_text(const Document& document, const terminal::Look& look = {});

/// docs/configuration.md: every key of every configuration file, in GitHub's Markdown.
std::string reference_page();

}  // namespace systole::schema
