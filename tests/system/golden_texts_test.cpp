// Compares what commands print with the files of tests/golden/texts: networks and machines that differ in
// everything, so that a figure, a unit or a word that is another one shows. After an intended change,
// SYSTOLE_WRITE_GOLDEN=1 writes the files again; their diff is what users will see.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/sim_process.h"

using namespace systole;

namespace {

const std::string odd_array =
    " --set machine.matrix_unit.rows=48 --set machine.matrix_unit.columns=80 --set machine.clock_mhz=313";
const std::string spilling =
    " --set machine.weight_memory.bytes=400000 --set machine.weight_memory.spill=true";

/// A file net.json with layers of every kind, more of them than a report lists by themselves.
const std::string many_layers = R"(cat >net.json <<'END'
{"schema": "sim.graph/1", "name": "many", "input": {"shape": [12, 10, 3]}, "weights": {"seed": 1}, "layers": [
{"name": "a", "op": "convolution", "inputs": ["input"], "kernel": 3, "stride": 1, "padding": "same", "filters": 8, "activation": "relu"},
{"name": "b", "op": "depthwise_convolution", "inputs": ["a"], "kernel": 3, "stride": 1, "padding": "same", "multiplier": 2, "activation": "relu"},
{"name": "c", "op": "max_pool", "inputs": ["b"], "kernel": 2, "stride": 2, "padding": "same"},
{"name": "d", "op": "convolution", "inputs": ["c"], "kernel": 1, "stride": 1, "padding": "same", "filters": 16, "activation": "tanh"},
{"name": "e", "op": "add", "inputs": ["c", "d"]},
{"name": "f", "op": "average_pool", "inputs": ["e"], "kernel": 3, "stride": 1, "padding": "same"},
{"name": "g", "op": "concat", "inputs": ["e", "f"]},
{"name": "h", "op": "batch_normalization", "inputs": ["g"]},
{"name": "i", "op": "sigmoid", "inputs": ["h"]},
{"name": "j", "op": "convolution", "inputs": ["i"], "kernel": 3, "stride": 2, "padding": "same", "filters": 90, "activation": "relu"},
{"name": "k", "op": "convolution", "inputs": ["j"], "kernel": 2, "stride": 1, "padding": "same", "filters": 7, "activation": "relu"},
{"name": "l", "op": "dense", "inputs": ["k"], "units": 130, "activation": "relu"},
{"name": "m", "op": "dense", "inputs": ["l"], "units": 20, "activation": "sigmoid"},
{"name": "scores", "op": "dense", "inputs": ["m"], "units": 5}], "output": "scores"}
END
)";

/// Without the speed of this computer.
std::string without_speed(const std::string& text) {
    static const std::regex speed("\n*Simulated in [^\n]*\n( [^\n]*\n)*");
    return std::regex_replace(text, speed, "\n");
}

/// A script for bash in an empty folder; the project is $project.
void check(const std::string& name, const std::string& script) {
    const tests::Folder folder;
    const std::string line = "export project='" + tests::project.string() + "'\n" + script;
    const tests::Outcome outcome = tests::bash(line, folder / ".");
    INFO(script);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const std::string text = without_speed(outcome.out);
    const std::filesystem::path file = tests::project / "tests/golden/texts" / (name + ".txt");
    if (std::getenv("SYSTOLE_WRITE_GOLDEN") != nullptr) {
        std::ofstream written(file);
        written << text;
        REQUIRE(written.good());
        return;
    }
    INFO(file.string() << "; if the change is intended: SYSTOLE_WRITE_GOLDEN=1 build/dev/system \"[texts]\"");
    std::istringstream lines(text);
    std::istringstream expected(tests::text_in(file));
    std::string wanted;
    for (std::string line_now; std::getline(lines, line_now);) {
        wanted.clear();
        std::getline(expected, wanted);
        REQUIRE(line_now == wanted);
    }
    CHECK_FALSE(std::getline(expected, wanted));
}

}  // namespace

TEST_CASE("Reports of runs with answers are the committed texts", "[system][golden][texts]") {
    check("digits_odd_array",
          "sim run mnist_cnn --limit 20 --batch 4 --float-reference --baseline k80 "
          "haswell_e5_2699_v3 --labels $project/models/mnist_cnn/digits-labels.idx1-ubyte.gz" +
              odd_array);
    check("digits_dram_spilled",
          "sim run mnist_cnn --machine tpu_v1_dram --limit 10 --batch 3 --all --power-windows 5 --mapping "
          "plain" +
              odd_array);
    check("digits_spilled",
          "sim run mnist_cnn --limit 11 --batch 5 --no-overlap --all" + odd_array + spilling);
}

TEST_CASE("Reports of networks with layers of every kind are the committed texts",
          "[system][golden][texts]") {
    const std::string run = many_layers + "sim run --machine tpu_v1 --model net.json --batch 2 ";
    check("layers", run + "--limit 5 --random-input 3" + odd_array);
    check("layers_published_power", run + "--limit 4 --random-input 3 --set machine.energy=null" + odd_array);
    check("layers_fast_memory",
          run + "--limit 3 --timing-only --set machine.weight_memory.bandwidth_gb_per_s=317" + odd_array);
}

TEST_CASE("Reports of runs without values are the committed texts", "[system][golden][texts]") {
    const std::string isca17 = "sim run --timing-only --all --model $project/models/isca17/";
    check("lstm", isca17 + "lstm1.json --batch 5 --machine tpu_v1_published");
    check("cut_images",
          isca17 + "cnn0.json --batch 3 --machine tpu_v1 --set machine.unified_buffer.rows=3000");
    check("mlp_dram", isca17 + "mlp1.json --batch 9 --machine tpu_v1_dram --host haswell_e5_2699_v3");
}

TEST_CASE("Reports of programs are the committed texts", "[system][golden][texts]") {
    const std::string programs = "cd $project/docs/micro_benchmarks\n";
    check("cells",
          programs +
              "sim run article_convolution.asm --machine cells_3x2.json --print edges:int8 --instructions "
              "--registers all");
    check("sixteen_bit", programs + "sim run sixteen_bit.asm --machine tpu_v1 --instructions");
    check(
        "fifo_runs_dry",
        programs +
            "sim run fifo_runs_dry.asm --machine tpu_v1_dram --instructions --print ub:0+3 --print acc:0+2");
}

TEST_CASE("Explanations and advice are the committed texts", "[system][golden][texts]") {
    check("explained", "sim explain mnist_cnn --batch 8 --limit 16 --all" + odd_array);
    check("explained_spilled", "sim explain mnist_cnn --batch 3 --limit 3 --all" + odd_array + spilling);
    check("advice",
          "sim advise mnist_cnn --batches 1,3 --sizes 1,2 --cpu haswell_e5_2699_v3 --out .\n"
          "sha256sum <advice.html");
}

TEST_CASE("Answers of studies are the committed texts", "[system][golden][texts]") {
    check("study",
          "sim sweep mnist_cnn --limit 8 --timing-only --workers 1 --name answers --out . "
          "--axis machine.matrix_unit.rows=64,96 --axis machine.matrix_unit.columns=32,64 --axis batch=1,4 "
          "--metric waits='cycles - units.matrix_unit.active_cycles' --show waits,cycles,watts --sort waits "
          "--top 5\n"
          "sim sweep answers.sqlite --show cycles,area_mm2 --sort area_mm2 --top 0\n"
          "sim sweep answers.sqlite --json | tr ',' '\\n' | grep -v seconds | sed \"s|$project/||\" | "
          "sha256sum");
}

TEST_CASE("Schedules and choices of mappings are the committed texts", "[system][golden][texts]") {
    const std::string compile = "sim compile mnist_cnn --limit 6 --batch 3" + odd_array;
    check("schedule", compile + " --text schedule");
    check("mappings", compile + " --explain --quiet\n" + compile + " --explain");
}

TEST_CASE("Reports side by side are the committed texts", "[system][golden][texts]") {
    check("side_by_side",
          "for rows in 48 96; do sim run mnist_cnn --limit 8 --batch 4 --timing-only --no-explain "
          "--quiet --out rows_$rows --baseline k80 --set machine.matrix_unit.rows=$rows; done\n"
          "sim report rows_48 rows_96 --text --all | grep -v -i simulat\n"
          "sim report rows_48 rows_96 --csv | head -1 | tr ',' '\\n'");
}

TEST_CASE("Traces are the committed ones", "[system][golden][texts]") {
    const std::string traced =
        "sim run mnist_cnn --limit 3 --batch 2 --quiet --no-explain --out . --trace timeline,csv,text,waves" +
        odd_array + "\nrm -f report.json report.html\n";
    check("traces", traced +
                        "for file in *; do test -f $file && echo $file $(zcat -f $file | sed "
                        "'/^.date/,/^.end/d' | sha256sum); done "
                        "| grep -v script");
    check("traces_of_layers", many_layers +
                                  "sim run --machine tpu_v1 --model net.json --limit 3 --batch 2 "
                                  "--random-input 3 --quiet --no-explain "
                                  "--out . --trace timeline,csv,text,waves" +
                                  odd_array +
                                  "\nrm -f report.json report.html net.json\nfor file in *; do test -f $file "
                                  "&& echo $file $(zcat -f $file | "
                                  "sed '/^.date/,/^.end/d' | sha256sum); done | grep -v script");
    check(
        "traces_of_cells",
        "sim run $project/docs/micro_benchmarks/article_convolution.asm --quiet --no-explain --out . --trace "
        "waves,text --trace-pe 0-1,0-1 --trace-from 20 --trace-to 90 --machine "
        "$project/docs/micro_benchmarks/cells_3x2.json\nrm -f report.json report.html\n"
        "for file in *; do zcat -f $file | sed '/^.date/,/^.end/d' | sha256sum; done");
}
