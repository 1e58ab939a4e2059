// Reads every #include of the project and holds it against the table of who may include whom.
#include "tests/system/include_rules.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/source_dir.h"

namespace systole::tests {
namespace {

namespace fs = std::filesystem;

bool breaks_a_rule(std::string_view from, std::string_view line) {
    const std::optional<Include> include = include_of(line);
    REQUIRE(include.has_value());
    return broken_rule(from, *include).has_value();
}

TEST_CASE("The include rules reject the includes that the design forbids", "[include_rules]") {
    const std::array<std::array<std::string_view, 2>, 78> forbidden{
        {{"base/data_type.h", R"(#include "hw/isa/program.h")"},
         {"hw/isa/program.h", R"(#include "hw/machine/machine_config.h")"},
         {"hw/isa/program.h", R"(#include "hw/common/clock.h")"},
         {"hw/isa/program.h", "#include <systemc>"},
         {"hw/math/gemm.cpp", "#  include <systemc.h>"},
         {"hw/common/clock.h", R"(#include "hw/weight_fifo/weight_fifo.h")"},
         {"hw/weight_fifo/weight_fifo.h", R"(#include "hw/weight_memory/weight_memory.h")"},
         {"hw/weight_fifo/weight_fifo.h", R"(#include "hw/core/core.h")"},
         {"hw/core/core.h", R"(#include "sim/run/run.h")"},
         {"hw/core/core.h", R"(#include "hw/system/system.h")"},
         {"compiler/emit/emit.cpp", R"(#include "hw/common/clock.h")"},
         {"compiler/emit/emit.cpp", R"(#include "hw/core/core.h")"},
         {"compiler/emit/emit.cpp", "#include <tlm>"},
         {"compiler/emit/emit.cpp", R"(#include "sim/run/input/read.h")"},
         {"sim/functional/machine.h", R"(#include "sim/run/input/read.h")"},
         {"sim/functional/machine.h", R"(#include "compiler/ir/graph.h")"},
         {"compiler/ir/graph.h", R"(#include "compiler/operators/operator.h")"},
         {"compiler/ir/graph.h", R"(#include "hw/isa/program.h")"},
         {"compiler/operators/add/add.cpp", R"(#include "compiler/passes/prepare.h")"},
         {"compiler/operators/add/add.cpp", R"(#include "compiler/frontend/layer_config.h")"},
         {"compiler/frontend/onnx.cpp", R"(#include "compiler/operators/operator.h")"},
         {"compiler/frontend/onnx.cpp", R"(#include "compiler/frontend/door/read_network.h")"},
         {"compiler/frontend/onnx.cpp", R"(#include "hw/machine/config_reader.h")"},
         {"compiler/frontend/door/read_network.cpp", R"(#include "compiler/passes/prepare.h")"},
         {"compiler/passes/prepare.cpp", R"(#include "compiler/frontend/door/read_network.h")"},
         {"sim/run/network.cpp", R"(#include "compiler/frontend/onnx.h")"},
         {"sim/cli/baseline_command.cpp", R"(#include "compiler/frontend/onnx.h")"},
         {"sim/cli/schema_command.cpp", R"(#include "compiler/operators/operator.h")"},
         {"sim/run/outputs.cpp", R"(#include "compiler/operators/integer_types.h")"},
         {"sim/run/network.cpp", R"(#include "compiler/passes/drop_weights.h")"},
         {"sim/study/measure/products.cpp", R"(#include "compiler/operators/operator.h")"},
         {"sim/study/measure/products.cpp", R"(#include "compiler/target/tpu_v1/lowering/lowering.h")"},
         {"sim/study/measure/products.cpp", R"(#include "compiler/target/tpu_v1/schedule/schedule.h")"},
         {"sim/run/baselines/expected.cpp", R"(#include "compiler/reference/executor.h")"},
         {"base/zip/zip_file.cpp", R"(#include "compiler/operators/operator.h")"},
         {"compiler/passes/prepare.cpp", R"(#include "compiler/target/tpu_v1/schedule/schedule.h")"},
         {"compiler/passes/prepare.cpp", R"(#include "hw/isa/program.h")"},
         {"compiler/mapping/tensor_use.h", R"(#include "compiler/operators/operator.h")"},
         {"compiler/mapping/tensor_use.h", R"(#include "compiler/target/tpu_v1/network/network.h")"},
         {"compiler/operators/add/add.cpp", R"(#include "compiler/target/tpu_v1/network/network.h")"},
         {"compiler/operators/add/add.cpp", R"(#include "compiler/target/tpu_v1/lowering/lowering.h")"},
         {"compiler/operators/pool.cpp", R"(#include "hw/isa/instructions/vector.h")"},
         {"compiler/passes/prepare.cpp", R"(#include "compiler/target/family.h")"},
         {"compiler/reference/integer_executor.cpp",
          R"(#include "compiler/target/tpu_v1/network/network.h")"},
         {"sim/run/execute/run.cpp", R"(#include "compiler/operators/host_segments.h")"},
         {"sim/run/execute/run.cpp", R"(#include "compiler/target/tpu_v1/schedule/schedule.h")"},
         {"sim/run/execute/run.cpp", R"(#include "compiler/mapping/options.h")"},
         {"sim/cli/compile_command.cpp", R"(#include "compiler/target/tpu_v1/compile.h")"},
         {"sim/study/explain/measure.cpp", R"(#include "compiler/compile.h")"},
         {"sim/run/record/spec.h", R"(#include "compiler/compile.h")"},
         {"compiler/target/tpu_v1/compile.cpp", R"(#include "compiler/compile.h")"},
         {"compiler/target/edge_tpu/family.cpp", R"(#include "compiler/target/tpu_v1/target.h")"},
         {"compiler/target/family.h", R"(#include "compiler/target/tpu_v1/target.h")"},
         {"compiler/compile.cpp", R"(#include "compiler/frontend/door/read_network.h")"},
         {"compiler/compile.h", R"(#include "sim/run/record/spec.h")"},
         {"compiler/compile.cpp", "#include <systemc>"},
         {"compiler/emit/synchronize.cpp", R"(#include "compiler/target/tpu_v1/target.h")"},
         {"compiler/schedule/stages.cpp", R"(#include "compiler/emit/synchronize.h")"},
         {"compiler/schedule/stages.cpp", R"(#include "compiler/passes/prepare.h")"},
         {"sim/run/record/record.h", R"(#include "hw/common/counter.h")"},
         {"sim/run/record/record.h", R"(#include "sim/run/run.h")"},
         {"sim/view/report/report.cpp", R"(#include "hw/common/counter.h")"},
         {"sim/view/trace/waves.cpp", R"(#include "hw/core/core.h")"},
         {"sim/run/host.cpp", R"(#include "sim/study/validate/validate.h")"},
         {"sim/run/baselines/baseline.cpp", R"(#include "sim/view/terminal/look.h")"},
         {"sim/view/report/report.cpp", R"(#include "compiler/ir/graph.h")"},
         {"sim/view/energy/run_energy.h", R"(#include "sim/run/execute/executor.h")"},
         {"sim/study/validate/simulate.cpp", R"(#include "hw/core/core.h")"},
         {"sim/study/explain/measure.cpp", R"(#include "hw/common/trace.h")"},
         {"sim/study/validate/null_models/roofline.h", R"(#include "compiler/ir/graph.h")"},
         {"sim/study/validate/null_models/roofline.h", R"(#include "base/cycle.h")"},
         {"sim/study/validate/null_models/roofline.cpp", R"(#include "hw/timing/matrix_unit.h")"},
         {"sim/study/validate/null_models/roofline.cpp", R"(#include "sim/run/record/record.h")"},
         {"sim/study/validate/null_models/roofline.cpp", R"(#include "sim/study/validate/published.h")"},
         {"sim/run/host.cpp", R"(#include "sim/study/validate/null_models/roofline.h")"},
         {"sim/main.cpp", R"(#include "tests/support/fresh_simulation.h")"},
         {"sim/main.cpp", R"(#include "run/run.h")"},
         {"sim/run/run.cpp", R"(#include "sim/run/../input/read.h")"}}};
    for (const auto& [from, line] : forbidden) {
        INFO(from << ": " << line);
        CHECK(breaks_a_rule(from, line));
    }
    CHECK(breaks_a_rule("sim/main.cpp", "#include <sim/run/input/read.h>"));
}

TEST_CASE("The include rules accept the includes that the design allows", "[include_rules]") {
    const std::array<std::array<std::string_view, 2>, 27> allowed{
        {{"hw/isa/program.h", R"(#include "base/data_type.h")"},
         {"hw/isa/instructions/nop.h", R"(#include "hw/isa/queue.h")"},
         {"hw/common/command_queue.h", R"(#include "hw/isa/footprint.h")"},
         {"hw/weight_fifo/weight_fifo.h", R"(#include "hw/common/clock.h")"},
         {"hw/weight_fifo/weight_fifo.h", "#include <systemc>"},
         {"hw/core/core.h", R"(#include "hw/weight_fifo/weight_fifo.h")"},
         {"hw/system/system.h", R"(#include "hw/core/core.h")"},
         {"compiler/frontend/keras_archive.cpp", R"(#include "base/zip/zip_file.h")"},
         {"compiler/frontend/door/read_network.cpp", R"(#include "compiler/frontend/onnx.h")"},
         {"compiler/frontend/door/read_network.cpp", R"(#include "compiler/operators/operator.h")"},
         {"sim/run/network.cpp", R"(#include "compiler/frontend/door/read_network.h")"},
         {"sim/run/execute/segment_host.cpp", R"(#include "compiler/reference/segment_executor.h")"},
         {"sim/run/input/npz.cpp", R"(#include "base/zip/zip_file.h")"},
         {"compiler/emit/emit.cpp", R"(#include "compiler/ir/graph.h")"},
         {"compiler/emit/emit.cpp", R"(#include "hw/isa/program.h")"},
         {"sim/functional/machine.h", R"(#include "hw/math/gemm.h")"},
         {"sim/run/execute/run.cpp", R"(#include "compiler/compile.h")"},
         {"sim/cli/compile_command.cpp", R"(#include "compiler/compile.h")"},
         {"compiler/compile.cpp", R"(#include "compiler/target/tpu_v1/compile.h")"},
         {"compiler/compile.cpp", R"(#include "compiler/target/family.h")"},
         {"compiler/target/tpu_v1/lowering/concat.cpp", R"(#include "compiler/operators/concat/concat.h")"},
         {"compiler/target/tpu_v1/compile.cpp", R"(#include "compiler/emit/synchronize.h")"},
         {"sim/run/record/spec.h", R"(#include "hw/machine/machine_config.h")"},
         {"sim/view/report/report.h", R"(#include "sim/run/record/record.h")"},
         {"sim/study/validate/rooflines.h", R"(#include "sim/study/validate/null_models/roofline.h")"},
         {"sim/study/validate/null_models/roofline.cpp",
          R"(#include "sim/study/validate/null_models/roofline.h")"},
         {"sim/run/run.cpp", R"(#include "hw/core/core.h")"}}};
    for (const auto& [from, line] : allowed) {
        INFO(from << ": " << line);
        CHECK_FALSE(breaks_a_rule(from, line));
    }
    CHECK_FALSE(include_of("// #include \"hw/isa/queue.h\"").has_value());
    CHECK_FALSE(include_of("#define INCLUDE").has_value());
}

TEST_CASE("Every #include of the project keeps the rules and names a file", "[include_rules]") {
    const fs::path root = source_dir();
    int includes = 0;
    for (const std::string_view top : {"base", "hw", "compiler", "sim"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
            const fs::path& file = entry.path();
            if (file.extension() != ".h" && file.extension() != ".cpp") continue;
            const std::string name = fs::relative(file, root).generic_string();
            std::ifstream source(file);
            std::string line;
            for (int number = 1; std::getline(source, line); ++number) {
                const std::optional<Include> include = include_of(line);
                if (!include) continue;
                ++includes;
                const std::optional<std::string> broken = broken_rule(name, *include);
                if (broken) FAIL_CHECK(name << ":" << number << ": " << line << ": " << *broken);
                if (include->quoted && !fs::exists(root / include->path)) {
                    FAIL_CHECK(name << ":" << number << ": " << line << ": there is no such file");
                }
            }
        }
    }
    CHECK(includes > 100);  // the walk did find the project
}

}  // namespace
}  // namespace systole::tests
