#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace systole::tests {

/// One #include as it stands in a file.
struct Include {
    std::string path;     ///< between the quotes or angle brackets
    bool quoted = false;  ///< "..." rather than <...>
};

/// The #include of a line of source, if it is one.
inline std::optional<Include> include_of(std::string_view line) {
    const auto skip_space = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
    skip_space();
    if (!line.starts_with('#')) return std::nullopt;
    line.remove_prefix(1);
    skip_space();
    constexpr std::string_view directive = "include";
    if (!line.starts_with(directive)) return std::nullopt;
    line.remove_prefix(directive.size());
    skip_space();
    const bool quoted = line.starts_with('"');
    if (!quoted && !line.starts_with('<')) return std::nullopt;
    const std::size_t end = line.find(quoted ? '"' : '>', 1);
    if (end == std::string_view::npos) return std::nullopt;
    return Include{.path = std::string(line.substr(1, end - 1)), .quoted = quoted};
}

/// The folder that the rules speak of: "base", "hw/isa" of "hw/isa/instructions/nop.h", "compiler/ir" of
/// "compiler/ir/graph.h", "sim/view" of "sim/view/report/report.h", and "sim/run/record"; "compiler" of the
/// files of its door, compiler/compile.h. Empty for files outside the project.
inline std::string area_of(std::string_view path) {
    const std::size_t slash = path.find('/');
    const std::string_view top = path.substr(0, slash);
    if (slash == std::string_view::npos) return {};
    if (top == "tests" || top == "base") return std::string(top);
    for (const std::string_view inner : {"compiler/frontend/door/", "sim/run/record/", "sim/run/baselines/",
                                         "sim/view/trace/", "sim/study/validate/null_models/"}) {
        if (path.starts_with(inner)) return std::string(inner.substr(0, inner.size() - 1));
    }
    if (top != "hw" && top != "compiler" && top != "sim") return {};
    std::size_t folder = path.find('/', slash + 1);
    if (folder == std::string_view::npos) return std::string(top == "compiler" ? top : path);
    // Each family of machines is an area of its own.
    const std::size_t family = path.find('/', folder + 1);
    if (path.starts_with("compiler/target/") && family != std::string_view::npos) folder = family;
    return std::string(path.substr(0, folder));
}

inline bool is_systemc(std::string_view path) {
    return path == "systemc" || path == "systemc.h" || path == "tlm" || path == "tlm.h" ||
           path.starts_with("tlm_") || path.starts_with("sysc/");
}

/// The areas that are plain C++ and are tested without a simulation kernel.
inline bool is_without_systemc(std::string_view area) {
    constexpr std::array<std::string_view, 7> areas{"base",      "hw/isa",         "hw/machine",    "hw/math",
                                                    "hw/timing", "sim/functional", "sim/run/record"};
    return area.starts_with("compiler") || std::find(areas.begin(), areas.end(), area) != areas.end();
}

/// What includes the frontends from outside. It alone brings the registry of operators to them.
inline constexpr std::string_view frontend_door = "compiler/frontend/door";

/// Whether a folder of the compiler may include one of another area. compiler/reference executes graphs, for
/// calibration too.
inline bool compiler_may_include(std::string_view from, std::string_view to) {
    const auto is_one_of = [&](std::initializer_list<std::string_view> areas) {
        return std::find(areas.begin(), areas.end(), to) != areas.end();
    };
    if (from == "compiler/ir") return false;
    if (from == "compiler/frontend") return to == "compiler/ir";
    if (from == frontend_door) return is_one_of({"compiler/ir", "compiler/frontend", "compiler/operators"});
    if (from == "compiler/operators") return is_one_of({"compiler/ir", "hw/math"});
    if (from == "compiler/reference") return is_one_of({"compiler/ir", "compiler/operators"});
    if (from == "compiler/passes") {
        return is_one_of(
            {"compiler/ir", "compiler/operators", "compiler/reference", "hw/machine", "hw/math"});
    }
    const bool below_mapping = is_one_of({"compiler/ir", "hw/timing", "hw/isa", "hw/machine"});
    if (from == "compiler/mapping") return below_mapping;
    const bool below_schedule = below_mapping || to == "compiler/mapping";
    if (from == "compiler/schedule") return below_schedule;
    const bool below_emit = below_schedule || to == "compiler/schedule";
    if (from == "compiler/emit") return below_emit;
    const bool below_target = below_emit || to == "compiler/emit";
    if (from == "compiler/target") return below_target;
    if (from.starts_with("compiler/target/")) {
        return below_target || is_one_of({"compiler/target", "compiler/operators", "compiler/passes",
                                          "compiler/reference", "hw/math"});
    }
    // Its files are the compiler's door, behind which all of it is but the frontends.
    return from == "compiler" && (to == "hw/machine" || to == "hw/isa" ||
                                  (to.starts_with("compiler/") && !to.starts_with("compiler/frontend")));
}

/// Models that are compared with the simulator.
inline constexpr std::string_view null_models = "sim/study/validate/null_models";

/// Whether a folder of sim may include one of another area. Views and studies include no unit of the chip;
/// traces include the interface through which units report events.
inline bool sim_may_include(std::string_view from, std::string_view to) {
    const bool to_description = to == "hw/isa" || to == "hw/machine";
    const bool to_records = to == "sim/run/record" || to == "sim/run/baselines";
    const bool above_run = to.starts_with("sim/view") || to.starts_with("sim/study") || to == "sim/cli";
    // By hand: it knows nothing of the chip, the compiler or a run, not even base.
    if (from == null_models) return false;
    if (from == "sim/functional") return to_description || to == "hw/math";
    if (from == "sim/run/record") return to == "hw/machine";
    if (from == "sim/run" || from == "sim/run/baselines") return !above_run;
    if (from == "sim/view") return to_description || to_records;
    if (from == "sim/view/trace") {
        return to_description || to_records || to == "hw/common" || to == "sim/view";
    }
    if (from == "sim/study") {
        return to_description || to_records || to == "sim/run" || to == "sim/view" ||
               to.starts_with("compiler") || to == null_models;
    }
    return from == "sim/cli";
}

/// Whether a folder of sim that may include the compiler may include this header of it: the graph, the
/// frontends' door, and, where runs are planned, the reference and the compiler's door.
inline bool sim_may_include_of_compiler(std::string_view from, std::string_view path) {
    const std::string to = area_of(path);
    if (to == "compiler/ir" || to == frontend_door) return true;
    if (from.starts_with("sim/study") || from == "sim/run/baselines") return false;
    return to == "compiler/reference" || to == "compiler";
}

/// Whether a file of area `from` may include one of area `to`.
inline bool may_include(std::string_view from, std::string_view to) {
    if (from == to) return true;
    if (to == "tests") return false;
    if (to == "base") return from != null_models;
    const bool to_definitions = to == "hw/isa" || to == "hw/machine" || to == "hw/math";
    const bool to_plain = to_definitions || to == "hw/timing";
    if (from == "hw/timing") return to == "hw/isa" || to == "hw/machine";
    if (from == "base" || from == "hw/isa" || from == "hw/machine" || from == "hw/math") return false;
    if (from == "hw/common") return to_plain;
    if (from == "hw/core") return to.starts_with("hw/") && to != "hw/system";
    if (from == "hw/system") return to.starts_with("hw/");
    if (from.starts_with("hw/")) return to_plain || to == "hw/common";
    if (from.starts_with("compiler")) return compiler_may_include(from, to);
    return from.starts_with("sim/") && sim_may_include(from, to);
}

/// The error of `include` in the file `from` (a path from the root); absent if the include is allowed.
inline std::optional<std::string> broken_rule(std::string_view from, const Include& include) {
    const std::string from_area = area_of(from);
    if (!include.quoted) {
        if (!area_of(include.path).empty()) return "the project's own headers are included with quotes";
        if (is_without_systemc(from_area) && is_systemc(include.path))
            return from_area + " is without SystemC";
        return std::nullopt;
    }
    const std::string to_area = area_of(include.path);
    if (to_area.empty() || include.path.find("..") != std::string::npos) {
        return "includes with quotes are written from the repository's root";
    }
    if (!may_include(from_area, to_area)) return from_area + " may not include " + to_area;
    if (from_area.starts_with("sim/") && to_area.starts_with("compiler") &&
        !sim_may_include_of_compiler(from_area, include.path)) {
        return from_area + " may not include " + include.path;
    }
    return std::nullopt;
}

}  // namespace systole::tests
