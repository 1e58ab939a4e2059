#include "sim/study/validate/target.h"

#include <utility>
#include <vector>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"

// ConfigReader finds each `describe` through the type of its structure.
namespace systole::tables {

void describe(machine::ConfigReader& reader, Row& row) {
    std::vector<std::string> cells;
    reader.field(machine::needed("label", "", ""), row.label);
    reader.field(machine::needed("cells", "", ""), cells);
    for (std::string& cell : cells) row.cells.push_back(Cell::words(std::move(cell)));
}

void describe(machine::ConfigReader& reader, Table& table) {
    reader.field(machine::needed("title", "", ""), table.title);
    reader.field(machine::needed("columns", "", ""), table.columns);
    reader.sections({"rows", "", ""}, table.rows);
    reader.field({"notes", "", ""}, table.notes);
}

}  // namespace systole::tables

namespace systole::validate {

using machine::ConfigReader;
using machine::needed;

/// The section "models".
struct Models {
    ByWorkload<std::string>& files;
};

/// The section "tables".
struct Tables {
    std::map<std::string, Table>& by_id;
};

constexpr std::array table_ids{
    "summary",   "total_cycles", "fits",       "table_1",        "table_3",       "table_3_differences",
    "table_8",   "roofline",     "throughput", "table_4",        "table_5",       "table_6",
    "baselines", "figure_9",     "figure_10",  "figure_10_text", "figure_11",     "statements",
    "tpu_prime", "tiling",       "claim",      "article_cnn",    "contradictions"};

void describe(ConfigReader& reader, GridAxis& axis) {
    reader.field(needed("from", "", ""), axis.from, {0.0, 1e12});
    reader.field(needed("to", "", ""), axis.to, {0.0, 1e12});
    reader.field(needed("steps", "", ""), axis.steps, {1, 1000});
    reader.check_keys();
    if (axis.to < axis.from) reader.fail("to", "it must not be less than from");
}

void describe(ConfigReader& reader, FitGrid& grid) {
    for (std::size_t i = 0; i < grid.axes.size(); ++i) {
        reader.section(needed(fit_parameters[i], "", ""), grid.axes[i]);
    }
    reader.field(needed("refinements", "", ""), grid.refinements, {0, 8});
    reader.check_keys();
    if (!(grid.axes[0].from > 0.0)) reader.fail(fit_parameters[0], "a bandwidth must be above 0");
}

void describe(ConfigReader& reader, Targets& targets) {
    reader.field(needed("mean_cycles_error", "", ""), targets.mean_cycles_error, {0.0, 1e12});
    reader.field(needed("cycles_error", "", ""), targets.cycles_error, {0.0, 1e12});
    reader.field(needed("counter_points", "", ""), targets.counter_points, {0.0, 1e12});
    reader.field(needed("sensitivity_error", "", ""), targets.sensitivity_error, {0.0, 1e12});
    reader.field(needed("efficiency_error", "", ""), targets.efficiency_error, {0.0, 1e12});
}

void describe(ConfigReader& reader, Models& models) {
    for (std::size_t i = 0; i < workload_count; ++i) {
        reader.field(needed(workload_names[i], "", ""), models.files[i]);
    }
}

void describe(ConfigReader& reader, Tables& tables) {
    for (const char* const id : table_ids) {
        Table& table = tables.by_id[id];
        table.id = id;
        reader.section(needed(id, "", ""), table);
    }
}

Target read_target(const nlohmann::json& object, const std::string& file) {
    ConfigReader reader(object, file);
    Target target;
    reader.check_schema("sim.validation/1");
    reader.field(needed("name", "", ""), target.name);
    reader.field(needed("published", "", ""), target.published);
    reader.field(needed("machine", "", ""), target.machine);
    reader.field(needed("cpu", "", ""), target.cpu);
    reader.field(needed("gpu", "", ""), target.gpu);
    Models models{target.models};
    reader.section(needed("models", "", ""), models);
    reader.section(needed("fit", "", ""), target.fit);
    reader.section(needed("targets", "", ""), target.targets);
    Tables tables{target.tables};
    reader.section(needed("tables", "", ""), tables);
    if (target.tables["statements"].notes.size() < statement_reasons) {
        throw machine::ConfigError(file + ": tables.statements.notes must end with three reasons");
    }
    reader.texts({"sources", "", ""}, target.sources);
    reader.check_keys();
    return target;
}

Target read_target(const std::filesystem::path& path) {
    return read_target(machine::read_json_object(path), path.string());
}

}  // namespace systole::validate
