// Programs of a few lines of assembly: their cycles and their results.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/source_dir.h"
#include "tests/system/sim_process.h"

using namespace systole;
using tests::report_of;
using tests::sim;
using Json = nlohmann::ordered_json;

namespace {

/// Adds 3 to each byte of a row, in the array: one product with the identity, and a bias.
const std::string adds_three =
    ".array 4 4\n"
    ".buffer in constant 0 8\n .int8 1 2 3 4 -5 6 7 127\n"
    ".buffer parameters constant 16 36\n .int32 4*3 4*0x40000000\n .int8 4*1\n"
    ".buffer out output 64 8\n"
    ".tile 4 4\n .int8 1 0 0 0  0 1 0 0  0 0 1 0  0 0 0 1\n"
    "set activation.columns 4; set activation.pixel_bytes 4; set activation.outputs_per_image 2\n"
    "set activation.parameters_row 8; set output.minimum -128; set output.maximum 127\n"
    "read_weights tile=0\n"
    "tag 1\n"
    "read_host in ub=0 block=8; read_host parameters ub=8 block=36; sync.signal host_read sem=0\n"
    "sync.wait matrix sem=0; matmul ub=0 acc=0 rows=2 signed; sync.signal matrix sem=1\n"
    "sync.wait activation sem=1; activate ub=20 acc=0 rows=2 load; sync.signal activation sem=2\n"
    "sync.wait host_write sem=2; write_host out ub=20 block=8\n"
    "halt\n";

const std::string small =
    "--machine tpu_v1 --set machine.matrix_unit.rows=4 --set machine.matrix_unit.columns=4";

}  // namespace

TEST_CASE("A program runs from text and from its file, as the argument and as --program", "[system]") {
    const tests::Folder folder;
    const std::string text = folder.file("three.asm", adds_three);
    const std::string short_name = folder.file("three.s", adds_three);
    const std::string file = (folder / "three.tpu").string();
    REQUIRE(sim("asm " + text + " -o " + file).exit_code == 0);
    Json first = report_of(text + " " + small + " --instructions --print out");
    CHECK(first["model"] == "three");
    CHECK(first["cycles"].get<std::uint64_t>() > 0);
    for (const std::string& arguments :
         {short_name, file, "--program " + text, "--program " + file, "--program=" + short_name}) {
        INFO(arguments);
        const Json other = report_of(arguments + " " + small + " --instructions --print out");
        for (const char* key : {"units", "layers", "instruction_times", "buffers", "energy"}) {
            CHECK(other[key] == first[key]);
        }
    }
    CHECK(sim(text + " " + small + " --quiet").exit_code == 0);  // without "run"
}

TEST_CASE("A program's buffers can be printed as the requested type", "[system]") {
    const tests::Folder folder;
    const std::string text = folder.file("three.asm", adds_three);
    const Json buffers = report_of(
        text + " " + small + " --print out:int8 --print out --print out:int16x2 --print in:int32")["buffers"];
    REQUIRE(buffers.size() == 4);
    CHECK(buffers[0] == Json{{"name", "out"}, {"type", "int8"}, {"values", {4, 5, 6, 7, -2, 9, 10, 127}}});
    CHECK(buffers[1]["values"] == Json({4, 5, 6, 7, 254, 9, 10, 127}));
    CHECK(buffers[2]["values"] == Json({4 + 256 * 5, 6 + 256 * 7, 254 + 256 * 9, 10 + 256 * 127}));
    CHECK(buffers[3]["values"] == Json({0x04030201, 0x7f0706fb}));
    CHECK(sim("run " + text + " " + small + " --print out:int8x4 --show buffers").out ==
          "Buffer out: 8 int8\n"
          "  0:   4   5   6   7\n"
          "  4:  -2   9  10 127\n");
}

TEST_CASE("The table of instructions has a line for each, in their order", "[system]") {
    const tests::Folder folder;
    const std::string text = folder.file("three.asm", adds_three);
    const Json report = report_of(text + " " + small + " --instructions");
    const Json& lines = report["instruction_times"];
    REQUIRE(lines.size() == report["instructions"].get<std::size_t>());
    std::size_t number = 0;
    for (const Json& line : lines) {
        INFO(line);
        CHECK(line["number"] == number++);
        if (line["begun"].is_null()) continue;
        CHECK(line["issued"] <= line["begun"]);
        CHECK(line["begun"] <= line["released"]);
        CHECK(line["released"] <= line["complete"]);
        CHECK(line["complete"] <= report["cycles"]);
    }
    CHECK(lines[6]["text"] == "read_weights tile=0");
    CHECK(lines[6]["unit"] == "weights");
    CHECK(lines[7]["text"] == "tag 1");
    CHECK(lines[7]["unit"] == "sequencer");
    CHECK(lines[8]["text"] == "read_host in ub=0 block=8");
    CHECK(lines[11]["unit"] == "matrix");  // a sync, in the queue of its unit
    CHECK(lines[11]["begun"] >= lines[10]["complete"]);
    CHECK(lines.back()["text"] == "halt");
    CHECK(lines.back()["complete"] == report["cycles"]);
    CHECK_FALSE(report_of(text + " " + small).contains("instruction_times"));
}

TEST_CASE("Each repetition has a line of its own", "[system]") {
    const tests::Folder folder;
    const std::string text = folder.file("repeat.asm",
                                         ".tile 1 1 fill 1; .tile 1 1 fill 1; read_weights tile=0 count=2\n"
                                         "matmul ub=0 acc=0 rows=9 repeat=1; halt; nop\n");
    const Json lines = report_of(text + " --machine tpu_v1 --instructions")["instruction_times"];
    REQUIRE(lines.size() == 4);  // instructions after halt are never issued
    CHECK(lines[1]["repetition"] == 0);
    CHECK(lines[2]["repetition"] == 1);
    CHECK(lines[2]["number"] == 1);
    CHECK(lines[1]["released"] <= lines[2]["begun"]);
    CHECK(sim(text + " --machine tpu_v1_published --show instructions").out ==
          "#  unit      issued begun released complete  instruction\n"
          "0  weights        0     0        0        0  read_weights tile=0 count=2\n"
          "1  matrix         1 1,605    1,614    2,126  matmul ub=0 acc=0 rows=9 repeat=1\n"
          "   matrix         1 2,954    2,963    3,475    repetition 1\n"
          "2  sequencer      2     2    3,475    3,475  halt\n");
}

TEST_CASE("A bare program's report shows every class, and input that nothing fills", "[system]") {
    const tests::Folder folder;
    const std::string text = folder.file(
        "bare.asm", ".buffer pixels input 0 1\nread_host pixels ub=0 block=1\ntag 3\nnop\nhalt\n");
    const tests::Outcome outcome = sim(text + " --machine tpu_v1");
    REQUIRE(outcome.exit_code == 0);
    for (const char* word : {"array active", "weight stall", "weight shift", "non-matrix", "program end",
                             "input pixels", "zeros"}) {
        INFO(word);
        CHECK(outcome.out.find(word) != std::string::npos);
    }
    CHECK(outcome.out.find("inference") == std::string::npos);
    CHECK(report_of(text + " --machine tpu_v1")["unfilled_buffers"] == Json({"pixels"}));
    CHECK(report_of(text + " --machine tpu_v1 --timing-only")["unfilled_buffers"].empty());
}

TEST_CASE("A timing-only run of a program takes the same cycles", "[system]") {
    const tests::Folder folder;
    const std::string text = folder.file("three.asm", adds_three);
    const Json report = report_of(text + " " + small + " --instructions");
    const Json timing = report_of(text + " " + small + " --instructions --timing-only");
    CHECK(timing["units"] == report["units"]);
    CHECK(timing["instruction_times"] == report["instruction_times"]);
}

TEST_CASE("Chosen parts of the text are printed alone, in the report's order", "[system]") {
    const tests::Folder folder;
    const std::string text = folder.file("three.asm", adds_three);
    const std::string all = sim(text + " " + small).out;
    const std::string chosen = sim(text + " " + small + " --show energy,matrix_unit").out;
    CHECK(chosen.starts_with("Matrix unit "));
    CHECK(chosen.find("\n\nEnergy\n") != std::string::npos);
    CHECK(chosen.find("Traffic") == std::string::npos);
    CHECK(all.find(chosen.substr(0, chosen.find("\n\n"))) != std::string::npos);
    CHECK(sim(text + " " + small + " --show energy --show matrix_unit").out == chosen);
}

TEST_CASE("The array's registers can be printed for each cycle", "[system]") {
    const tests::Folder folder;
    // One cell, weight 3: rows of 2 and of -4.
    const std::string text = folder.file("cell.asm",
                                         ".array 1 1\n.buffer x constant 0 2\n .int8 2 -4\n.tile 1 1 fill 3\n"
                                         "read_weights tile=0; read_host x ub=0 block=1 count=2\n"
                                         "sync.signal host_read sem=0; sync.wait matrix sem=0\n"
                                         "matmul ub=0 acc=0 rows=2 signed; halt\n");
    const std::string machine =
        "--machine tpu_v1 --set machine.matrix_unit.rows=1 --set machine.matrix_unit.columns=1";
    const Json dump =
        report_of(text + " " + machine + " --set machine.matrix_unit.engine=pe --registers all")["registers"];
    CHECK(dump["rows"] == 1);
    CHECK(dump["columns"] == 1);
    std::vector<int> sums;
    for (const Json& cycle : dump["cycles"]) {
        if (cycle["activations"][0] != 0) {
            CHECK(cycle["weights"][0] == 3);
            sums.push_back(cycle["partial_sums"][0].get<int>());
        }
    }
    CHECK(sums == std::vector<int>{6, -12});
    const auto last = dump["cycles"].back()["cycle"].get<std::uint64_t>();
    const Json one = report_of(text + " " + machine + " --set machine.matrix_unit.engine=pe --registers " +
                               std::to_string(last))["registers"];
    REQUIRE(one["cycles"].size() == 1);
    CHECK(one["cycles"][0] == dump["cycles"].back());
}

TEST_CASE("Power over time shows when units worked, and sums to the energy", "[system]") {
    const tests::Folder folder;
    const std::string text = folder.file("three.asm", adds_three);
    CHECK_FALSE(report_of(text + " " + small)["energy"].contains("power_over_time"));
    const Json report = report_of(text + " " + small + " --power-windows 50 --timing-only");
    const Json& power = report["energy"]["power_over_time"];
    const std::uint64_t cycles = report["cycles"];
    const std::uint64_t window = power["window_cycles"];
    CHECK(window == (cycles + 49) / 50);
    for (const auto& [unit, watts] : power["watts"].items()) {
        INFO(unit);
        REQUIRE(watts.size() == (cycles + window - 1) / window);
        double joules = 0.0;
        std::size_t at_work = 0;
        for (std::size_t i = 0; i < watts.size(); ++i) {
            const std::uint64_t length = std::min(window, cycles - i * window);
            joules += watts[i].get<double>() * static_cast<double>(length) / 700e6;
            at_work += watts[i].get<double>() > 0.0 ? 1 : 0;
        }
        CHECK(joules == Approx(report["energy"]["by_unit"][unit].get<double>()).epsilon(1e-9));
        // Two rows pass in two cycles; the idle chip takes its watts all the time.
        if (unit == "matrix_unit") CHECK((at_work == 1 || at_work == 2));
        if (unit == "chip_static") CHECK(at_work == watts.size());
    }
}

TEST_CASE("Types that only tensor cores take are refused on other machines", "[system]") {
    const tests::Folder folder;
    for (const char* const type : {"bfloat16", "uint32", "float16", "bool"}) {
        for (const std::string side : {"input", "output"}) {
            const std::string program = folder.file(
                "typed.asm", "." + side + " x shape=8 type=" + type +
                                 "\n.model m batch=1 inferences=1\n.buffer b " + side + " 0 32\nhalt\n");
            for (const char* const data : {"--random-input 1", "--timing-only"}) {
                if (side == "output" && std::string(data) == "--random-input 1") continue;
                const tests::Outcome outcome = sim("run " + program + " --machine tpu_v1 " + data);
                CHECK(outcome.exit_code == 2);
                CHECK(outcome.out.empty());
                CHECK(outcome.err == "sim: " + program + ": " + side + " \"x\" is " + type +
                                         ", which only machines with tensor cores take; tpu_v1 has none\n");
            }
        }
    }
}

TEST_CASE("Errors of programs are one line", "[system]") {
    const tests::Folder folder;
    const std::string text = folder.file("three.asm", adds_three);
    const std::string bad = folder.file("bad.asm", "nop\n  matmul ub=0\n");
    const std::string run = text + " " + small;
    const std::string without_energy =
        std::string(tests::source_dir()) +
        "/docs/micro_benchmarks/cells_3x2.json --set machine.matrix_unit.rows=4" +
        " --set machine.matrix_unit.columns=4";
    struct Mistake {
        std::string arguments;
        std::vector<std::string> named;
    };
    for (const Mistake& mistake : std::vector<Mistake>{
             {bad + " --machine tpu_v1", {"bad.asm:2:3: matmul: acc= is missing"}},
             {"nowhere.asm --machine tpu_v1", {"nowhere.asm", "there is no such file"}},
             {text, {"machine"}},
             {text + " --machine tpu_v1", {"three.asm", "4 x 4", "256 x 256"}},
             {"run " + text + " --machine tpu_v1 --program x.tpu", {"three.asm", "x.tpu"}},
             {"compile " + text + " --machine tpu_v1", {"model"}},
             {run + " --print nothing", {"three.asm", "nothing", "in, parameters, out"}},
             {run + " --print out:float", {"out:float", "int8"}},
             {run + " --print out:int8x0", {"out:int8x0"}},
             {run + " --print out --timing-only", {"print", "timing-only"}},
             {run + " --show weather", {"weather"}},
             {run + " --show energy --json", {"--json"}},
             {run + " --show buffers", {"--print"}},
             {run + " --registers all", {"registers", "pe"}},
             {run + " --set machine.matrix_unit.engine=pe --registers 5-4", {"5-4"}},
             {run + " --set machine.matrix_unit.engine=pe --registers some", {"some"}},
             {run + " --registers all --timing-only", {"registers", "timing-only"}},
             {run + " --power-windows some", {"power_windows", "some"}},
             {text + " --machine " + without_energy + " --power-windows 5", {"power_windows", "energy"}},
         }) {
        const tests::Outcome outcome = sim(mistake.arguments);
        INFO("sim " << mistake.arguments);
        INFO(outcome.err);
        CHECK(outcome.exit_code == 2);
        CHECK(outcome.out.empty());
        CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
        for (const std::string& name : mistake.named) {
            INFO(name);
            CHECK(outcome.err.find(name) != std::string::npos);
        }
    }
}
