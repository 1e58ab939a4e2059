// Each row is a wrong input: what is wrong, the command, the words that the message must hold, the exit code.
// The message is one line on stderr that begins with "sim: ", and nothing is written to stdout.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/system/sim_process.h"

using namespace systole;

namespace {

/// An IDX file of `count` images of height x width, all 0.
std::string idx_images(unsigned char count, unsigned char height, unsigned char width) {
    std::string file{'\0', '\0', '\x08', '\x03'};
    for (const unsigned char extent : {count, height, width}) {
        file += std::string(3, '\0') + static_cast<char>(extent);
    }
    return file + std::string(std::size_t{count} * height * width, '\0');
}

struct WrongInput {
    std::string what;
    std::string arguments;           ///< of `sim`, for the shell
    std::vector<std::string> words;  ///< each is in the message
    int exit_code = 2;
};

void check(const std::vector<WrongInput>& rows) {
    for (const WrongInput& row : rows) {
        const tests::Outcome outcome = tests::sim(row.arguments);
        INFO(row.what << ": sim " << row.arguments);
        INFO(outcome.err);
        CHECK(outcome.exit_code == row.exit_code);
        CHECK(outcome.out.empty());
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
        CHECK(outcome.err.find("sim: ") == 0);
        for (const std::string& word : row.words) {
            INFO(word);
            CHECK(outcome.err.find(word) != std::string::npos);
        }
    }
}

}  // namespace

TEST_CASE("Each wrong run, network, program or machine ends with one line that names it", "[system]") {
    const tests::Folder folder;
    const std::string digits = "run configs/runs/mnist_cnn.json ";
    const std::string network = tests::text_in(tests::project / "models/mnist_cnn/mnist_cnn.h5");
    REQUIRE(network.size() > 100000);
    const std::string truncated = folder.file("truncated.h5", network.substr(0, 100000));
    const std::string empty = folder.file("empty.idx", "");
    const std::string other_shape = folder.file("shape.idx", idx_images(2, 10, 10));
    const std::string not_json = folder.file("run.json", "{\"schema\": ");
    const std::string no_schema = folder.file("no_schema.json", "{\"machine\": \"tpu_v1\"}");
    const std::string assembly = folder.file("bad.s", "matmul ub=0\n");
    const std::string no_halt = folder.file("no_halt.s", "nop\n");
    const std::string unordered = folder.file("unordered.s",
                                              ".buffer io input 0 256\n"
                                              "read_host io ub=0 block=256\n"
                                              "write_host io ub=0 block=256\nhalt\n");
    const std::string waiting =
        folder.file("waiting.s", "sync.wait matrix sem=3\nmatmul ub=0 acc=0 rows=1\nhalt\n");
    const std::string program = (folder / "net.tpu").string();
    REQUIRE(tests::sim("compile configs/runs/mnist_cnn.json --limit 2 -o " + program).exit_code == 0);
    const std::string int8_alone =
        R"(--set 'machine.matrix_unit.formats=[{"activations": "int8", "weights": "int8", "passes": 1}]')";
    const std::string broken_program = folder.file("broken.tpu", tests::text_in(program).substr(0, 5000));

    check({
        {"a run file that is not there", "nowhere.json", {"nowhere.json"}},
        {"a word that is no command", "rnu", {"rnu", "\"run\""}},
        {"an unknown option", "run --frobnicate", {"--frobnicate"}},
        {"nothing to run", "run", {"machine"}},
        {"a run file that is not JSON", not_json, {"run.json", "JSON"}},
        {"a run file without schema", no_schema, {"no_schema.json", "schema"}},
        {"a missing machine file", digits + "--machine nowhere/m.json", {"nowhere/m.json"}},
        {"a machine of no known name", digits + "--machine tpu_v0", {"tpu_v0", "configs/machines"}},
        {"an unknown key of the run", digits + "--set bach=3", {"bach", "\"batch\""}},
        {"an unknown key of the machine",
         digits + "--set machine.weight_fifo.depth=8",
         {"weight_fifo.depth", "\"depth_tiles\""}},
        {"a machine that cannot be built", digits + "--set machine.matrix_unit.rows=0", {"matrix_unit.rows"}},
        {"a batch of 0", digits + "--batch 0", {"batch", "0"}},
        {"a batch that is no number", digits + "--batch many", {"batch", "many"}},
        {"a setting without value", digits + "--set batch", {"batch", "KEY=VALUE"}},
        {"a missing network", digits + "--model nowhere.h5", {"nowhere.h5"}},
        {"a truncated network", digits + "--model " + truncated, {"truncated.h5"}},
        {"a file that is no network", digits + "--model " + empty, {"empty.idx"}},
        {"an empty file of images", digits + "--input " + empty, {"empty.idx"}},
        {"images of another shape", digits + "--input " + other_shape, {"shape.idx", "10x10x1", "1x1x784"}},
        {"images as labels",
         digits + "--labels models/mnist_cnn/digits-images.idx3-ubyte.gz",
         {"digits-images"}},
        {"more labels than images",
         digits + "--input " + other_shape + " --labels models/mnist_cnn/digits-labels.idx1-ubyte.gz",
         {"500 labels", "2 images"}},
        {"a missing baseline", digits + "--baseline pentium", {"pentium"}},
        {"a network that does not fit", digits + "--set machine.unified_buffer.rows=20", {"mnist_cnn"}},
        {"a folder that cannot be made", digits + "--out /proc/no", {"/proc/no"}},
        {"a program for another array",
         digits + "--limit 2 --set machine.matrix_unit.columns=128 --program " + program,
         {"net.tpu", "256 x 256", "256 x 128"}},
        {"another number of images than the program's", digits + "--program " + program, {"2 images", "500"}},
        {"a batch for a program", digits + "--limit 2 --batch 4 --program " + program, {"batch"}},
        {"a damaged program", digits + "--limit 2 --program " + broken_program, {"broken.tpu"}},
        {"a program without halt", "run --machine tpu_v1 --program " + no_halt, {"no_halt.s", "halt"}},
        {"a program without sync",
         "run --machine tpu_v1 --program " + unordered,
         {"unordered.s", "write_host", "a sync between their units is missing"}},
        {"a program that waits forever",
         "run --machine tpu_v1 --program " + waiting,
         {"waiting.s", "cannot finish", "semaphore 3"}},
        {"assembly with a mistake", "asm " + assembly + " -o " + (folder / "x.tpu").string(), {"bad.s:1"}},
        {"a missing program", "disasm nowhere.tpu", {"nowhere.tpu"}},
        {"compiling for an array without the program's number formats",
         "compile configs/runs/mnist_cnn.json --limit 2 " + int8_alone + " -o " + (folder / "x.tpu").string(),
         {"uint8", "the machine's array multiplies int8 x int8"}},
        {"compiling to nowhere", "compile configs/runs/mnist_cnn.json", {"-o"}},
        {"compiling without images",
         "compile --machine tpu_v1 --model models/mnist_cnn/mnist_cnn.h5 -o " + (folder / "y.tpu").string(),
         {"--calibration"}},
    });
}

TEST_CASE("Each wrong assembly program ends with one line that names file and line", "[system]") {
    const tests::Folder folder;
    struct WrongText {
        std::string what;
        std::string text;  ///< of the file wrong.s, after `.array 4 4` in line 1
        std::vector<std::string>
            words;  ///< in the message; the first is the line, and the column if it is known
        std::string options = "";
    };
    const std::string settings =
        "set activation.columns 4; set activation.pixel_bytes 4; set activation.outputs_per_image 8\n";
    const std::string product = ".tile 4 4 fill 1\n" + settings +
                                "read_weights tile=0; matmul ub=0 acc=2 rows=2\n" +
                                "sync.signal matrix sem=0; sync.wait activation sem=0\n";
    const std::string pe = "--set machine.matrix_unit.engine=pe ";
    const std::vector<WrongText> texts{
        {"activate without a product",
         settings + "activate acc=0 ub=0 rows=1 load; halt\n",
         {":3:", "accumulator row 0", "nothing has written"}},
        {"activate of a row behind the product's",
         product + "activate acc=3 ub=0 rows=2 load; halt\n",
         {":6:", "accumulator row 4", "nothing has written"}},
        {"activate without parameters",
         product + "activate acc=2 ub=0 rows=2; halt\n",
         {":6:", "parameters", "load"}},
        {"activate of more columns than were loaded",
         product + "set activation.columns 2; activate acc=2 ub=0 rows=1 load\nset activation.columns 4\n"
                   "activate acc=2 ub=0 rows=1; halt\n",
         {":8:", "activation.columns is 4", "2 columns"}},
        {"lookup without a table",
         product + "activate acc=2 ub=0 rows=1 load\nactivate acc=2 ub=0 rows=1 lookup; halt\n",
         {":7:", "table for 8 bits"}},
        {"no rows and no load", "activate acc=0 ub=0 rows=0; halt\n", {":2:1:", "rows is 0", "load"}},
        {"a tile that is declared behind its use",
         "read_weights tile=0\nmatmul ub=0 acc=0 rows=1 keep; halt\n.tile 4 4 fill 1\n",
         {":2:1:", "read_weights", "0 tiles"}},
        {"keep of no weights",
         ".tile 4 4 fill 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=1 keep; halt\n",
         {":4:", "instruction 1 (matmul", "keeps"}},
        {"a weight of 255", ".tile 1 2\n  .int8 1 255\nhalt\n", {":3:11: 255:", "-128 to 127", ".uint8"}},
        {"a wide weight of 40000",
         ".tile 1 1 bytes=2\n.int16 40000\nhalt\n",
         {":3:8:", "-32768 to 32767", ".uint16"}},
        {"a tile filled with 200", ".tile 4 4 fill 200\nhalt\n", {":2:16:", "200", "-128 to 127"}},
        {"an unsigned byte of 256", ".tile 1 1\n.uint8 256\nhalt\n", {":3:8:", "0 to 255"}},
        {"a sum beyond 32 bits", ".accumulators 0 1 fill 2147483648\nhalt\n", {":2:24:", "2147483647"}},
        {"initial rows without values", ".unified_buffer 3 8\nhalt\n", {":2:1:", "0 bytes", "must be 8"}},
        {"initial rows with too many values",
         ".accumulators 0 1\n.int32 5*1\nhalt\n",
         {":2:1:", "20 bytes", "16"}},
        {"initial rows that overlap",
         ".unified_buffer 3 8 fill 1\n.unified_buffer 4 1 fill 1\nhalt\n",
         {":3:1:", "overlaps rows 3 to 4"}},
        {"initial rows behind the last address",
         ".accumulators 65535 2 fill 0\nhalt\n",
         {":2:21:", "from 1 to 1"}},
        {"initial rows that the machine has not",
         ".accumulators 4095 2 fill 0\nhalt\n",
         {"wrong.s:", "accumulator rows 4095 to 4096", "has 4096 rows"}},
        {"initial bytes that the machine has not",
         ".unified_buffer 98304 1 fill 0\nhalt\n",
         {"wrong.s:", "unified-buffer rows 98304 to 98304", "has 98304 rows"}},
        {"an array behind initial rows",
         ".unified_buffer 0 1 fill 0\n.array 2 2\nhalt\n",
         {":3:1:", ".array"}},
        {"an unknown constant", "tag layers\nhalt\n", {":2:5: layers:", "no constant layers"}},
        {"a constant that is declared twice", ".constant n 1\n.constant n 2\nhalt\n", {":3:11: n:", "taken"}},
        {"a constant that is no number", ".constant n many\nhalt\n", {":2:13:", "many"}},
        {"a constant without a value", ".constant n\nhalt\n", {":2:1:", "value is missing"}},
        {"a constant that is too large for its field",
         ".constant n 65530\ntag n+6\nhalt\n",
         {":3:5: n+6:", "65535"}},
        {".repeat without .end", "nop\n.repeat 3\nnop\nhalt\n", {":3:1: .repeat:", ".end is missing"}},
        {".end without .repeat", "nop\n.end\nhalt\n", {":3:1: .end:", "no .repeat"}},
        {".repeat without a count", ".repeat\nnop\n.end\nhalt\n", {":2:1:", "count is missing"}},
        {".repeat 0", ".repeat 0\nnop\n.end\nhalt\n", {":2:9:", "from 1 to 1048576"}},
        {"a text that repeats without end",
         ".repeat 1000000; .repeat 1000000\nnop\n.end; .end\nhalt\n",
         {":2:18:", "at most 1048576 statements"}},
        {"a mistake in what is repeated",
         ".repeat 3\nnop\nmatmul ub=0\n.end\nhalt\n",
         {":4:1: matmul:", "acc="}},
        {"no nop", "nop count=0\nhalt\n", {":2:5: count=0:", "from 1"}},
        {"a count of another instruction", "halt count=2\n", {":2:6: count=2:", "halt"}},
        {"a signal that nobody gives",
         ".tile 4 4 fill 1\nread_weights tile=0\nsync.wait matrix sem=3\nmatmul ub=0 acc=0 rows=1\nhalt\n",
         {":4:", "cannot finish: matrix waits in instruction 1 (sync.wait matrix sem=3) for semaphore 3",
          "no instruction signals"}},
        {"a tile that nobody fetches",
         ".tile 4 4 fill 1\nmatmul ub=0 acc=0 rows=1\nhalt\n",
         {":3:", "cannot finish: matrix waits in instruction 0", "no read_weights fetches"}},
        {"two units that wait for each other",
         "sync.wait matrix sem=1; sync.signal matrix sem=2\nsync.wait activation sem=2\nsync.signal "
         "activation sem=1\n"
         "halt\n",
         {":2:", "matrix waits in instruction 0", "; activation waits in instruction 2 (line 3:"}},
        {"a semaphore of two waiters",
         "sync.signal weights sem=4; sync.signal weights sem=4\nsync.wait matrix sem=4\nnop count=9\n"
         "sync.wait activation sem=4\nhalt\n",
         {":5:", "sync.wait activation sem=4", "two waiting units"}},
        {"a missing sync",
         ".buffer io input 0 4\nread_host io ub=0 block=4\nwrite_host io ub=0 block=4\nhalt\n",
         {":4:", "instruction 1 (write_host", "instruction 0 (line 3: read_host"}},
        {"a register that makes no sense",
         product + "set output.minimum 300\nactivate acc=2 ub=0 rows=1 load\nhalt\n",
         {":7:", "output.minimum is 300"}},
        {"rows that the machine has not",
         ".tile 4 4 fill 1\nread_weights tile=0\nmatmul ub=98303 acc=0 rows=2\nhalt\n",
         {":4:", "unified-buffer row 98304"}},
        {"a transfer outside the host's buffers",
         "nop\nread_host 64 ub=0 block=8\nhalt\n",
         {":3:", "host bytes 64 to 71"}},
        {"no halt", "nop\nnop count=2\n", {":3:", "halt"}},
        {"rows to print behind the last",
         "halt\n",
         {"wrong.s", "acc:4096", "rows 0 to 4095"},
         "--print acc:4096"},
        {"a part of the chip to print without rows", "halt\n", {"wrong.s", "ROW+ROWS"}, "--print ub:"},
        {"sums to print as bytes", "halt\n", {"wrong.s", "int32"}, "--print acc:0+2:uint8"},
        {"no such place to print", "halt\n", {"wrong.s", "\"sums\"", "acc:ROW+ROWS"}, "--print sums:0"},
        {"registers behind the end",
         "nop\nhalt\n",
         {"registers: cycle 900000", "ends in cycle"},
         pe + "--registers 900000-900001"},
    };
    std::vector<WrongInput> rows;
    for (const WrongText& each : texts) {
        const std::string name = std::to_string(rows.size()) + "_wrong.s";
        rows.push_back({each.what,
                        "run " + folder.file(name, ".array 4 4\n" + each.text) + " --machine tpu_v1 " +
                            "--set machine.matrix_unit.rows=4 --set machine.matrix_unit.columns=4 " +
                            each.options,
                        each.words});
        // The place follows the file's name.
        if (each.words.front().front() == ':') rows.back().words.front() = name + each.words.front();
    }
    check(rows);
}
