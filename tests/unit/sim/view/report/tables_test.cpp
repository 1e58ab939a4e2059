// The tables a run prints on request.
#include <catch2/catch.hpp>
#include <sstream>

#include "hw/isa/assembly.h"
#include "sim/run/execute/recorders.h"
#include "sim/view/report/sections.h"
#include "sim/view/report/texts.h"

using namespace systole;

namespace {

std::size_t longest_line(const std::string& text) {
    std::istringstream lines(text);
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    return longest;
}

run::BufferContents buffer(std::vector<double> values, std::uint64_t columns = 0) {
    return {.name = "b", .type = "int32", .columns = columns, .values = std::move(values)};
}

}  // namespace

TEST_CASE("A buffer's lines have the columns asked for, or as many as fit", "[report]") {
    CHECK(report::buffer_text(buffer({1, -20, 3}, 2)) == "Buffer b: 3 int32\n  0:   1 -20\n  2:   3\n");
    CHECK(report::buffer_text(buffer({7}, 4)) == "Buffer b: 1 int32\n  0: 7\n");
    const std::vector<double> narrow(40, 9);
    CHECK(report::buffer_text(buffer(narrow)).find("\n  16: 9 9 ") != std::string::npos);
    const std::vector<double> wide(1000, -2147483648.0);
    const std::string text = report::buffer_text(buffer(wide));
    CHECK(longest_line(text) <= 80);
    CHECK(text.find("\n     4: -2147483648") != std::string::npos);  // eight would not fit
    CHECK(report::buffer_text(buffer(wide), {.columns = 110}).find("\n     8: ") != std::string::npos);
    CHECK(longest_line(report::buffer_text(buffer(wide), {.columns = 110})) <= 110);
}

TEST_CASE("Real numbers of a buffer have as many digits as they need", "[report]") {
    const run::BufferContents reals{
        .name = "b", .type = "float32", .columns = 2, .values = {0.1F, -2, 1e-30F}};
    CHECK(report::buffer_text(reals) == "Buffer b: 3 float32\n  0:   0.1    -2\n  2: 1e-30\n");
}

TEST_CASE("Instructions without times have lines, too", "[report]") {
    const isa::Program program = isa::assemble(
        ".buffer in input 16 4\ntag 1\nread_host in+1 ub=0 block=1\nsync.wait matrix sem=2\nhalt\nnop\n",
        "test");
    const std::vector<hw::InstructionTimes> times{
        {.unit = 0, .number = 1, .tag = 1, .issued = 3, .begun = 1004, .released = 1005, .complete = 1010}};
    const auto lines = run::instruction_lines(program, times, 1010);
    REQUIRE(lines.size() == 4);
    CHECK(lines[0].unit == "sequencer");
    CHECK_FALSE(lines[0].issued);
    CHECK(lines[1].unit == "host_read");
    CHECK(lines[1].text == "read_host in+1 ub=0 block=1");
    CHECK(lines[1].begun == 1004);
    CHECK(lines[2].unit == "matrix");
    CHECK_FALSE(lines[2].complete);
    CHECK(lines[3].complete == 1010);
    const report::Json report{{"instruction_times", report::instruction_times_json(lines)}};
    CHECK(report::instruction_table(report) ==
          "#  unit      issued begun released complete  instruction\n"
          "0  sequencer      -     -        -        -  tag 1\n"
          "1  host_read      3 1,004    1,005    1,010  read_host in+1 ub=0 block=1\n"
          "2  matrix         -     -        -        -  sync.wait matrix sem=2\n"
          "3  sequencer      -     -        -    1,010  halt\n");
    // On a terminal an instruction goes on below itself.
    CHECK_THAT(report::instruction_table(report, {.columns = 64}),
               Catch::Contains("\n1  host_read      3 1,004    1,005    1,010  read_host in+1 ub=0\n" +
                               std::string(45, ' ') + "block=1\n"));
}

TEST_CASE("Of several cores, an instruction has a line for those with the same times", "[report]") {
    const auto lines = [](Cycle begun) {
        return std::vector<run::InstructionLine>{{.number = 0,
                                                  .unit = "sequencer",
                                                  .issued = 1,
                                                  .begun = 1,
                                                  .released = 1,
                                                  .complete = 1,
                                                  .text = "tag 1"},
                                                 {.number = 1,
                                                  .unit = "vector",
                                                  .issued = 2,
                                                  .begun = begun,
                                                  .released = begun + 4,
                                                  .complete = begun + 6,
                                                  .text = "chain 0"}};
    };
    run::RunRecord record;
    record.spec.machine.family = machine::Family::TensorCore;
    record.spec.machine.system = {.chips = 2, .cores = 2};
    record.instruction_times = lines(10);
    record.cores_alike = {{.cores = {0, 2}},
                          {.cores = {1}, .instruction_times = lines(1500)},
                          {.cores = {3}, .instruction_times = lines(1501)}};
    const report::Json report{{"instruction_times", report::instruction_times_json(record.instruction_times)},
                              {"cores_alike", report::cores_alike_json(record)}};
    CHECK(report::instruction_table(report) ==
          "#  unit       core                   issued begun released complete  instruction\n"
          "0  sequencer  all                         1     1        1        1  tag 1\n"
          "1  vector     chip0.core0 and 1 more      2    10       14       16  chain 0\n"
          "1  vector     chip0.core1                 2 1,500    1,504    1,506  chain 0\n"
          "1  vector     chip1.core1                 2 1,501    1,505    1,507  chain 0\n");
}

TEST_CASE("Times that arrive out of order are matched to their instructions", "[report]") {
    const isa::Program program = isa::assemble(
        ".tile 1 1 fill 0\n.tile 1 1 fill 0\nread_weights tile=0 count=2\nmatmul ub=0 acc=0 rows=1 "
        "repeat=1\nhalt\n",
        "test");
    const std::vector<hw::InstructionTimes> times{
        {.unit = 3, .number = 1, .issued = 1, .begun = 20, .released = 21, .complete = 30},
        {.unit = 2, .number = 0, .issued = 0, .begun = 1, .released = 22, .complete = 22},
        {.unit = 3, .number = 1, .issued = 1, .begun = 40, .released = 41, .complete = 50}};
    const auto lines = run::instruction_lines(program, times, 50);
    REQUIRE(lines.size() == 4);
    CHECK(lines[0].begun == 1);
    CHECK(lines[1].begun == 20);
    CHECK(lines[1].repetition == 0);
    CHECK(lines[2].begun == 40);
    CHECK(lines[2].repetition == 1);
    CHECK(lines[3].number == 2);
}

TEST_CASE("A cell's registers stand side by side, as wide as the widest value", "[report]") {
    const run::RegisterDump dump{.rows = 1,
                                 .columns = 2,
                                 .cycles = {{.cycle = 9,
                                             .activations = {1, 0},
                                             .weights = {-5, 2},
                                             .shadow_weights = {0, 0},
                                             .partial_sums = {-5, 0}},
                                            {.cycle = 10,
                                             .activations = {2, 1},
                                             .weights = {-5, 2},
                                             .shadow_weights = {0, 7},
                                             .partial_sums = {-1000, 2}}}};
    const report::Json registers = report::registers_json(dump);
    const std::string table = report::register_table(registers);
    CHECK(table.substr(table.find("\n cell") + 1) ==
          " cell | 0,0          | 0,1\n"
          "cycle | a  w s   sum | a  w s   sum\n"
          "    9 | 1 -5 0    -5 | 0  2 0     0\n"
          "   10 | 2 -5 0 -1000 | 1  2 7     2\n");
    // On a terminal what does not fit beside is shown below; this one shows a cell at a time.
    const std::string narrow = report::register_table(registers, {.columns = 30});
    CHECK(narrow.substr(narrow.find("\n cell") + 1) ==
          " cell | 0,0\n"
          "cycle | a  w s   sum\n"
          "    9 | 1 -5 0    -5\n"
          "   10 | 2 -5 0 -1000\n"
          "\n"
          " cell | 0,1\n"
          "cycle | a  w s   sum\n"
          "    9 | 0  2 0     0\n"
          "   10 | 1  2 7     2\n");
    CHECK(report::register_table(registers, {.columns = 80}) == report::register_table(registers));
}
