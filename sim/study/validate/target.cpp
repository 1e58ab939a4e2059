#include "sim/study/validate/target.h"

#include <fmt/format.h>

#include <algorithm>
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
    ByWorkload<PinnedModel>& files;
};

/// The section "tables".
struct Tables {
    std::map<std::string, Table>& by_id;
};

/// The section "mapping".
struct MappingSection {
    PinnedMapping& mapping;
};

/// The keys of run::Mapping.
struct MappingKeys {
    run::Mapping& choices;
};

constexpr std::array table_ids{"summary",
                               "zero_fit",
                               "total_cycles",
                               "fits",
                               "table_1",
                               "table_3",
                               "table_3_differences",
                               "table_8",
                               "roofline",
                               "throughput",
                               "table_4",
                               "table_5",
                               "table_6",
                               "baselines",
                               "figure_9",
                               "figure_10",
                               "figure_10_text",
                               "figure_11",
                               "statements",
                               "tpu_prime",
                               "tiling",
                               "claim",
                               "article_cnn",
                               "scores",
                               "null_scores",
                               "not_scored",
                               "figures",
                               "contradictions",
                               "choices",
                               "mechanisms",
                               "layer_ends"};

constexpr std::array<std::string_view, 3> order_names = names_of(run::LayerOrder{});
constexpr std::array<std::string_view, 3> mapping_names = names_of(run::MappingName{});

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
    reader.choice(needed("loss", "", ""), grid.loss, loss_names);
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

void describe(ConfigReader& reader, PinnedModel& model) {
    reader.field(needed("file", "", ""), model.file);
    reader.field(needed("sha256", "", ""), model.sha256);
}

template <class Keys>
void describe_mapping(ConfigReader& reader, run::Mapping& mapping, const Keys& key) {
    auto& [join_convolutions, join_by_cost, skip_zero_tiles, parts_by_delay, group_first_layers, pixel_blocks,
           split_channels, in_place, double_buffers, pipeline, overlap_transfers, order, cut_images,
           compare] = mapping;
    reader.field(key("join_convolutions"), join_convolutions);
    reader.field(key("join_by_cost"), join_by_cost);
    reader.field(key("skip_zero_tiles"), skip_zero_tiles);
    reader.field(key("parts_by_delay"), parts_by_delay);
    reader.field(key("group_first_layers"), group_first_layers);
    reader.field(key("pixel_blocks"), pixel_blocks);
    reader.field(key("split_channels"), split_channels);
    reader.field(key("in_place"), in_place);
    reader.field(key("double_buffers"), double_buffers);
    reader.field(key("pipeline"), pipeline);
    reader.field(key("overlap_transfers"), overlap_transfers);
    reader.choice(key("order"), order, order_names);
    reader.field(key("cut_images"), cut_images);
    reader.field(key("compare"), compare);
}

void describe(ConfigReader& reader, MappingKeys& keys) {
    describe_mapping(reader, keys.choices, [](const char* key) { return machine::Field{key, "", ""}; });
}

void describe(ConfigReader& reader, MappingSection& section) {
    reader.field(needed("name", "", ""), section.mapping.name);
    describe_mapping(reader, section.mapping.choices, [](const char* key) { return needed(key, "", ""); });
}

/// Settings as texts, KEY=VALUE.
void settings(ConfigReader& reader, const char* key, std::vector<run::Setting>& list) {
    std::vector<std::string> texts;
    reader.field({key, "", ""}, texts);
    for (const std::string& text : texts) list.push_back(run::parse_setting(text));
}

void describe(ConfigReader& reader, Variant& variant) {
    reader.field(needed("label", "", ""), variant.label);
    reader.field({"instead_of", "", ""}, variant.instead_of);
    reader.field({"seen", "", ""}, variant.seen);
    reader.field({"constants", "", ""}, variant.constants, {0, 10});
    settings(reader, "machine", variant.machine);
    settings(reader, "fitted_machine", variant.fitted_machine);
    if (reader.has("mapping_name")) {
        reader.choice({"mapping_name", "", ""}, variant.mapping_name.emplace(), mapping_names);
    }
    settings(reader, "mapping", variant.mapping);
    reader.texts({"models", "", ""}, variant.models);
    for (const auto& [workload, file] : variant.models) {
        if (std::ranges::count(workload_names, workload) == 0) {
            reader.fail("models", fmt::format("{} is none of the workloads", workload));
        }
    }
    reader.field({"by_row_9", "", ""}, variant.by_row_9);
    reader.field({"sixteen_bit_figure_11", "", ""}, variant.sixteen_bit_figure_11);
    reader.field({"mlp0_percent", "", ""}, variant.mlp0_percent, {0.0, 100.0});
    reader.field({"batches", "", ""}, variant.batches, {1, 100});
    if (reader.has("loss")) reader.choice({"loss", "", ""}, variant.loss.emplace(), loss_names);
}

void describe(ConfigReader& reader, Models& models) {
    for (std::size_t i = 0; i < workload_count; ++i) {
        reader.section(needed(workload_names[i], "", ""), models.files[i]);
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
    reader.field(needed("published_machine", "", ""), target.published_machine);
    reader.field(needed("cpu", "", ""), target.cpu);
    reader.field(needed("gpu", "", ""), target.gpu);
    Models models{target.models};
    reader.section(needed("models", "", ""), models);
    reader.field(needed("shapes", "", ""), target.shapes);
    MappingSection mapping{target.mapping};
    reader.section(needed("mapping", "", ""), mapping);
    reader.sections(needed("zero_fit", "", ""), target.zero_fit);
    reader.sections(needed("mechanisms", "", ""), target.mechanisms);
    reader.section(needed("fit", "", ""), target.fit);
    reader.sections(needed("choices", "", ""), target.choices);
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

run::Mapping with(const run::Mapping& mapping, const std::vector<run::Setting>& settings,
                  const std::string& file) {
    nlohmann::json object = nlohmann::json::object();
    for (const run::Setting& setting : settings) run::apply(setting, object, file);
    run::Mapping changed = mapping;
    ConfigReader reader(object, file, "mapping");
    MappingKeys keys{changed};
    describe(reader, keys);
    reader.check_keys();
    return changed;
}

Target read_target(const std::filesystem::path& path) {
    return read_target(machine::read_json_object(path), path.string());
}

}  // namespace systole::validate
