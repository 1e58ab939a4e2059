#include "sim/study/validate/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"

namespace systole::validate {

using machine::ConfigReader;
using machine::Field;
using machine::needed;

namespace {

constexpr std::array<std::string_view, 3> order_names = names_of(machine::LayerOrder{});
constexpr std::array<std::string_view, 3> mapping_names = names_of(machine::MappingName{});

Field optional(std::string_view key) {
    return {key, "", ""};
}
void text(ConfigReader& reader, std::string_view key, std::string& value) {
    reader.field(needed(key, "", ""), value);
}
void text_if_any(ConfigReader& reader, std::string_view key, std::string& value) {
    reader.field(optional(key), value);
}

/// Objects by name, each with its own description.
template <class Config>
void by_name(ConfigReader& reader, const Field& field, std::map<std::string, Config>& configs) {
    std::map<std::string, nlohmann::json> objects;
    reader.values(field, objects);
    for (const auto& [name, object] : objects) {
        ConfigReader inner(object, reader.file(), fmt::format("{}.{}", reader.path_of(field.key), name));
        describe(inner, configs[name]);
        inner.check_keys();
    }
}

}  // namespace

// ConfigReader finds each `describe` through the type of its structure.

/// The keys of a mapping; of a target, each is needed.
struct MappingKeys {
    machine::Mapping& mapping;
    bool are_needed = false;
};

/// A list of objects whose first has the name by which others refer to it.
struct NamedRoofline {
    std::string name;
    RooflineSet set;
};

void describe(ConfigReader& reader, MappingKeys& keys) {
    const auto key = [&](const char* name) {
        return keys.are_needed ? needed(name, "", "") : optional(name);
    };
    auto& [join_convolutions, join_by_cost, skip_zero_tiles, parts_by_delay, group_first_layers, pixel_blocks,
           split_channels, in_place, double_buffers, pipeline, overlap_transfers, order, cut_images, compare,
           join_results, combine_sums, keep_results] = keys.mapping;
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
    reader.field(key("join_results"), join_results);
    reader.field(key("combine_sums"), combine_sums);
    reader.field(key("keep_results"), keep_results);
}

void describe(ConfigReader& reader, Model& model) {
    text(reader, "file", model.file);
    text_if_any(reader, "sha256", model.sha256);
    text(reader, "batch", model.batch);
    text_if_any(reader, "training", model.training);
    reader.values(optional("set"), model.set);
}

void describe(ConfigReader& reader, RunSet& run) {
    text_if_any(reader, "machine", run.machine);
    reader.values(optional("set"), run.set);
    reader.values(optional("feeding"), run.feeding);
    if (reader.has("like")) reader.choice(optional("like"), run.mapping_name.emplace(), mapping_names);
    reader.values(optional("mapping"), run.mapping);
    reader.field(optional("eight_bits"), run.eight_bits);
    reader.field(optional("of"), run.of);
    reader.field(optional("batches"), run.batches, {1, 100});
    reader.field(optional("metrics"), run.has_metrics);
}

void describe(ConfigReader& reader, RooflineSet& set) {
    text_if_any(reader, "clock_hz", set.clock_hz);
    text_if_any(reader, "array", set.array);
    text_if_any(reader, "weight_bytes_per_second", set.weight_bytes_per_second);
    text_if_any(reader, "link_bytes_per_second", set.link_bytes_per_second);
    reader.field(optional("eight_bits"), set.eight_bits);
}

void describe(ConfigReader& reader, NamedRoofline& named) {
    text(reader, "name", named.name);
    describe(reader, named.set);
}

void describe(ConfigReader& reader, BestConstant& constant) {
    text(reader, "measured", constant.measured);
    text(reader, "predicted", constant.predicted);
    text_if_any(reader, "times", constant.times);
}

void describe(ConfigReader& reader, NullRow& row) {
    text(reader, "name", row.name);
    text(reader, "measured", row.measured);
    reader.texts(needed("terms", "", ""), row.terms);
    reader.check_keys();
    if (row.terms.empty()) reader.fail("terms", "it must have at least one");
}

void describe(ConfigReader& reader, NullModel& model) {
    reader.sections(needed("rows", "", ""), model.rows);
    if (model.rows.empty()) reader.fail("rows", "it must have at least one");
}

void describe(ConfigReader& reader, EvenNetwork& network) {
    text(reader, "weight_layers", network.weight_layers);
    text(reader, "other_layers", network.other_layers);
    text(reader, "weights", network.weights);
    text(reader, "macs", network.macs);
}

void describe(ConfigReader& reader, BaselinePoint& point) {
    text_if_any(reader, "name", point.name);
    text(reader, "source", point.source);
    text(reader, "unit", point.unit);
    text(reader, "network", point.network);
    text(reader, "batch", point.batch);
    text(reader, "published", point.published);
    text_if_any(reader, "latency_ms", point.latency_ms);
    if (point.unit != "TOPS" && point.unit != "inf/s") reader.fail("unit", R"(it must be "TOPS" or "inf/s")");
}

void describe(ConfigReader& reader, BaselineSet& baseline) {
    text(reader, "file", baseline.file);
    text(reader, "label", baseline.label);
    reader.sections(optional("points"), baseline.points);
    text_if_any(reader, "within_source", baseline.within_source);
    text_if_any(reader, "within_network", baseline.within_network);
    text_if_any(reader, "within_limit_ms", baseline.within_limit_ms);
    text_if_any(reader, "within_published", baseline.within_published);
}

void describe(ConfigReader& reader, BaselineRatio& ratio) {
    text(reader, "source", ratio.source);
    text(reader, "of", ratio.of);
    text(reader, "than", ratio.than);
    text(reader, "published", ratio.published);
    text(reader, "points", ratio.points);
}

void describe(ConfigReader& reader, GridAxis& axis) {
    text(reader, "key", axis.key);
    reader.field(optional("of"), axis.of);
    reader.field(needed("from", "", ""), axis.from, {0.0, 1e12});
    reader.field(needed("to", "", ""), axis.to, {0.0, 1e12});
    reader.field(needed("steps", "", ""), axis.steps, {1, 1000});
    reader.field(optional("digits"), axis.digits, {0, 9});
    reader.check_keys();
    if (axis.to < axis.from) reader.fail("to", "it must not be less than from");
}

void describe(ConfigReader& reader, FitRow& row) {
    text(reader, "name", row.name);
    text(reader, "run", row.run);
    text(reader, "error", row.error);
    reader.check_keys();
}

void describe(ConfigReader& reader, FitGrid& grid) {
    reader.sections(needed("parameters", "", ""), grid.axes);
    reader.field(needed("refinements", "", ""), grid.refinements, {0, 8});
    reader.choice(needed("loss", "", ""), grid.loss, loss_names);
    if (reader.has("error") == reader.has("rows")) {
        reader.fail("error", "it stands alone, or rows stand in its place");
    }
    if (reader.has("error")) text(reader, "error", grid.rows.emplace_back().error);
    std::vector<FitRow> rows;
    reader.sections(optional("rows"), rows);
    grid.rows.insert(grid.rows.end(), rows.begin(), rows.end());
    text_if_any(reader, "label", grid.label);
    reader.field(optional("set_size"), grid.set_size, {0, 8});
    text_if_any(reader, "measured", grid.measured);
    text_if_any(reader, "predicted", grid.predicted);
}

void describe(ConfigReader& reader, FormulaFit& fit) {
    text(reader, "name", fit.name);
    text_if_any(reader, "of", fit.of);
    text_if_any(reader, "leave_out", fit.leave_out);
    reader.sections(needed("constants", "", ""), fit.grid.axes);
    reader.field(needed("refinements", "", ""), fit.grid.refinements, {0, 8});
    reader.choice(needed("loss", "", ""), fit.grid.loss, loss_names);
    text(reader, "error", fit.grid.rows.emplace_back().error);
    reader.check_keys();
    if (fit.grid.axes.empty()) reader.fail("constants", "it must have at least one");
    for (const GridAxis& axis : fit.grid.axes) {
        if (!is_name(axis.key)) reader.fail("constants", "keys must have letters, digits and _ alone");
        if (!axis.of.empty()) reader.fail("constants", "of goes with the parameters of a machine");
    }
}

void describe(ConfigReader& reader, FigureFormulas& figure) {
    if (reader.has("rows_of")) {
        text(reader, "rows_of", figure.rows_of);
        if (figure.rows_of != "baselines") reader.fail("rows_of", R"(it must be "baselines")");
        return;
    }
    text(reader, "place", figure.place);
    text_if_any(reader, "what", figure.what);
    reader.choice(needed("origin", "", ""), figure.origin, origin_names);
    reader.field(needed("digits", "", ""), figure.digits, {0, 9});
    text(reader, "published", figure.published);
    text(reader, "ours", figure.ours);
    text_if_any(reader, "roofline", figure.roofline);
}

void describe(ConfigReader& reader, NoticingFormulas& figure) {
    text(reader, "name", figure.name);
    reader.field(needed("share", "", ""), figure.is_share);
    text(reader, "published", figure.published);
    text(reader, "ours", figure.ours);
    text_if_any(reader, "machine", figure.machine);
}

void describe(ConfigReader& reader, Note& note) {
    text(reader, "text", note.text);
    text_if_any(reader, "unless", note.unless);
}

void describe(ConfigReader& reader, CellFormulas& cell) {
    text_if_any(reader, "text", cell.text);
    text_if_any(reader, "value", cell.value);
    text_if_any(reader, "row", cell.row);
    reader.field(optional("digits"), cell.digits, {0, 9});
    reader.choice(optional("as"), cell.as, cell_kind_names);
    const int ways = int{reader.has("text")} + int{reader.has("value")} + int{reader.has("row")};
    if (ways != 1) reader.fail("text", "a cell has one of text, value and row");
}

void describe(ConfigReader& reader, RowFormulas& row) {
    // A row of one formula needs no list of cells.
    if (reader.has("row")) {
        CellFormulas& first = row.cells.emplace_back();
        text(reader, "row", first.row);
        reader.field(optional("digits"), first.digits, {0, 9});
        reader.choice(optional("as"), first.as, cell_kind_names);
    }
    std::vector<CellFormulas> cells;
    reader.sections(optional("cells"), cells);
    row.cells.insert(row.cells.end(), cells.begin(), cells.end());
    text_if_any(reader, "label", row.label);
    reader.sections(optional("rows"), row.rows);
    if (reader.has("rows") == (reader.has("label") || !row.cells.empty())) {
        reader.fail("rows", "it stands alone, or a label and cells stand in its place");
    }
}

void describe(ConfigReader& reader, TableFormulas& table) {
    text(reader, "id", table.id);
    text(reader, "title", table.title);
    reader.field(needed("columns", "", ""), table.columns);
    text_if_any(reader, "rows_of", table.rows_of);
    reader.sections(optional("notes"), table.notes);
    reader.field(optional("hosts"), table.hosts);
    reader.sections(optional("rows"), table.rows);
}

void describe(ConfigReader& reader, Choice& choice) {
    text(reader, "label", choice.label);
    text(reader, "instead_of", choice.instead_of);
    text(reader, "seen", choice.seen);
    std::map<std::string, nlohmann::json> change;
    reader.values(needed("change", "", ""), change);
    choice.change = change;
    reader.field(optional("without"), choice.without);
}

void describe(ConfigReader& reader, Score& score) {
    text(reader, "name", score.name);
    text(reader, "value", score.value);
    reader.field(optional("long"), score.is_long);
}

namespace {

/// Keys of the output that the program itself gives, and ids that are there twice.
void check_keys(const Target& target, const std::string& file) {
    constexpr std::array<std::string_view, 8> own{"schema",     "target", "published", "machine",
                                                  "parameters", "fit",    "splits",    "tables"};
    for (const auto& [key, formula] : target.json) {
        if (std::ranges::count(own, key) == 0) continue;
        throw machine::ConfigError(
            fmt::format("{}: json.{}: the output has such a key of its own", file, key));
    }
    for (const Score& score : target.scores) {
        if (score.name != "label" && score.name != "instead_of" && score.name != "seen") continue;
        throw machine::ConfigError(
            fmt::format("{}: scores: {} is the name of a text of each choice", file, score.name));
    }
    for (const TableFormulas& table : target.tables) {
        if (std::ranges::count(target.tables, table.id, &TableFormulas::id) == 1) continue;
        throw machine::ConfigError(fmt::format("{}: tables: there are two with the id {}", file, table.id));
    }
}

std::vector<sweep::Metric> metrics_of(const std::map<std::string, std::string>& formulas) {
    std::vector<sweep::Metric> metrics;
    metrics.reserve(formulas.size());
    for (const auto& [name, formula] : formulas) metrics.push_back({.name = name, .formula = formula});
    return metrics;
}

}  // namespace

Target read_target(const nlohmann::json& object, const std::string& file) {
    nlohmann::json written = object;
    Target target;
    if (written.contains("lists")) {
        target.lists = read_lists(written["lists"], file);
        // A choice changes the file as it is written.
        const nlohmann::json choices = written.contains("choices") ? written["choices"] : nlohmann::json();
        written.erase("lists");
        written.erase("choices");
        written = written_out(written, target.lists, file);
        if (!choices.is_null()) written["choices"] = choices;
    }
    ConfigReader reader(written, file);
    reader.check_schema("sim.validation/2");
    text(reader, "name", target.name);
    text(reader, "published", target.published);
    text(reader, "machine", target.machine);
    reader.values(optional("set"), target.set);
    reader.values(optional("set_all"), target.set_all);
    MappingKeys mapping{target.mapping, true};
    reader.section(needed("mapping", "", ""), mapping);
    if (reader.has("like")) {
        machine::MappingName like{};
        reader.choice(optional("like"), like, mapping_names);
        target.mapping = machine::mapping_named(like);
    }
    reader.field(optional("batches"), target.batches, {1, 100});
    text_if_any(reader, "shapes", target.shapes);
    by_name(reader, needed("models", "", ""), target.models);
    std::map<std::string, std::string> metrics;
    reader.texts(optional("metrics"), metrics);
    target.metrics = metrics_of(metrics);
    by_name(reader, needed("runs", "", ""), target.runs);
    std::vector<NamedRoofline> rooflines;
    reader.sections(optional("rooflines"), rooflines);
    for (NamedRoofline& each : rooflines) target.rooflines.emplace_back(each.name, std::move(each.set));
    by_name(reader, optional("constants"), target.constants);
    by_name(reader, optional("null_models"), target.null_models);
    by_name(reader, optional("networks"), target.networks);
    by_name(reader, optional("baselines"), target.baselines);
    reader.sections(optional("ratios"), target.ratios);
    reader.section(optional("fit"), target.fit);
    reader.sections(optional("formula_fits"), target.formula_fits);
    reader.values(optional("values"), target.values);
    reader.sections(optional("figures"), target.figures);
    reader.field(optional("groups"), target.groups);
    reader.sections(optional("noticing"), target.noticing);
    reader.field(optional("parameter_runs"), target.parameter_runs);
    reader.sections(needed("tables", "", ""), target.tables);
    reader.texts(optional("json"), target.json);
    reader.sections(optional("choices"), target.choices);
    reader.sections(optional("scores"), target.scores);
    reader.texts(optional("sources"), target.sources);
    reader.check_keys();
    check_keys(target, file);
    if (!target.lists.contains("workloads")) {
        throw machine::ConfigError(file + ": lists.workloads is missing; it is needed");
    }
    return target;
}

machine::Mapping with(const machine::Mapping& mapping, const std::map<std::string, nlohmann::json>& keys,
                      const std::string& file) {
    const nlohmann::json object = keys;
    machine::Mapping changed = mapping;
    if (keys.empty()) return changed;
    ConfigReader reader(object, file, "mapping");
    MappingKeys read{changed};
    describe(reader, read);
    reader.check_keys();
    return changed;
}

Target read_target(const std::filesystem::path& path) {
    return read_target(machine::read_json_object(path), path.string());
}

}  // namespace systole::validate
