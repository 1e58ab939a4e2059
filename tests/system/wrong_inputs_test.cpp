// Each row is a wrong input: what is wrong, the command, the words that the message must hold, the exit code.
// The message is one line on stderr that begins with "sim: ", and nothing is written to stdout.
#include <sys/stat.h>
#include <tflite_generated.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/system/input_files.h"
#include "tests/system/sim_process.h"
#include "tests/unit/base/zip/made_zip.h"
#include "tests/unit/compiler/frontend/keras_file.h"
#include "tests/unit/sim/run/input/made_png.h"

using namespace systole;
using tests::idx_images;
using tests::npy;
using tests::repeated;

namespace {

using Json = nlohmann::ordered_json;

Json shipped(const std::string& file) {
    return Json::parse(tests::text_in(tests::project / file));
}

/// A TFLite file with another version of the format.
std::string with_version(std::string file, std::uint8_t version) {
    const auto* const model = frontend::tflite::GetModel(file.data());
    const auto* const bytes =
        reinterpret_cast<const flatbuffers::Table*>(model)->GetAddressOf(frontend::tflite::Model::VT_VERSION);
    file[static_cast<std::size_t>(bytes - reinterpret_cast<const std::uint8_t*>(file.data()))] =
        static_cast<char>(version);
    return file;
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
        CHECK(outcome.err.find('\x1b') == std::string::npos);
        for (const std::string& word : row.words) {
            INFO(word);
            CHECK(outcome.err.find(word) != std::string::npos);
        }
    }
}

/// A JSON file that differs from a right one in the value at a place.
struct WrongValue {
    std::string place;  ///< as in "/weight_memory/bytes"
    Json value;         ///< null: the key is missing
    std::vector<std::string> words;
};

/// The commands that read each of the wrong files; the file's path follows `command`.
void check(const std::string& command, const Json& right, const std::vector<WrongValue>& wrong) {
    const tests::Folder folder;
    std::vector<WrongInput> rows;
    for (const WrongValue& each : wrong) {
        Json changed = right;
        const Json::json_pointer place(each.place);
        changed[place] = each.value;
        if (each.value.is_null()) changed[place.parent_pointer()].erase(place.back());
        const std::string name = "wrong" + std::to_string(rows.size()) + ".json";
        std::vector<std::string> words = each.words;
        words.push_back(name);
        rows.push_back({.what = each.place + " " + each.value.dump(),
                        .arguments = command + folder.file(name, changed.dump()),
                        .words = words});
    }
    check(rows);
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
    const std::string two_images = folder.file("two.idx", idx_images(2, 28, 28));
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
         digits + "--input " + two_images + " --labels models/mnist_cnn/digits-labels.idx1-ubyte.gz",
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

TEST_CASE("Each wrong place of an output, and each name that is nowhere, ends with one line that names it",
          "[system]") {
    const tests::Folder folder;
    const std::string assembly = folder.file("one.s", "nop\nhalt\n");
    const std::string program = (folder / "one.tpu").string();
    REQUIRE(tests::sim("asm " + assembly + " --quiet -o " + program).exit_code == 0);
    const std::string run = "run " + assembly + " --machine tpu_v1 ";
    const std::string reported = (folder / "reported").string();
    REQUIRE(tests::sim(run + "--quiet --no-explain --out " + reported).exit_code == 0);
    const std::string compile = "compile mnist_cnn --limit 1 --batch 1 -o ";
    const std::string nowhere = (folder / "none/x").string();
    const std::string is_folder = (folder / "").string();
    folder.file("page/report.html/in_the_way", "");
    folder.file("json/report.json/in_the_way", "");
    folder.file("csv/instructions.csv/in_the_way", "");
    const std::string truncated = folder.file(
        "truncated.h5", tests::text_in(tests::project / "models/mnist_cnn/mnist_cnn.h5").substr(0, 50000));
    const std::string no_network = folder.file("no_network.json", "{\"schema\": \"sim.graph/1\"}");
    const std::string no_text = folder.file("no_text.txt", "graph\n");

    check({
        {"an empty folder of results", run + "--out ''", {"--out", "empty"}},
        {"an empty page", "report " + reported + " --out ''", {"--out", "empty"}},
        {"an empty report", "report ''", {"an argument", "empty"}},
        {"an empty program", compile + "''", {"-o", "empty"}},
        {"an empty assembled program", "asm " + assembly + " -o ''", {"-o", "empty"}},
        {"an empty text", "disasm " + program + " -o ''", {"-o", "empty"}},
        {"an empty baseline", "baseline --measure --out ''", {"--out", "empty"}},
        {"an empty page of keys", "schema --page ''", {"--page", "empty"}},
        {"an empty page of tables", "validate --page ''", {"--page", "empty"}},
        {"an empty machine", "run mnist_cnn --machine ''", {"--machine", "empty"}},
        {"an empty network", "run --machine tpu_v1 --model ''", {"--model", "empty"}},
        {"a program in no folder", compile + nowhere, {"none/x", "No such file or directory"}},
        {"a program that is a folder", compile + is_folder, {is_folder, "Is a directory"}},
        {"a program on a full disk", "asm " + assembly + " -o /dev/full", {"/dev/full", "No space left"}},
        {"a text on a full disk", "disasm " + program + " -o /dev/full", {"/dev/full", "No space left"}},
        {"a page of keys on a full disk", "schema --page /dev/full", {"/dev/full", "No space left"}},
        {"a page on a full disk", "report " + reported + " --out /dev/full", {"/dev/full", "No space left"}},
        {"a baseline in no folder", "baseline --measure --out " + nowhere, {"none/x", "No such file"}},
        {"tables in no folder", "validate --json " + nowhere, {"none/x", "No such file"}},
        {"results in a file", run + "--out " + assembly + "/x", {"one.s/x", "cannot be made"}},
        {"a folder where the report goes",
         run + "--out " + (folder / "json").string(),
         {"report.json", "Is a"}},
        {"a folder where the page goes",
         run + "--out " + (folder / "page").string(),
         {"report.html", "Is a"}},
        {"a folder where a trace goes",
         run + "--trace csv --out " + (folder / "csv").string(),
         {"instructions.csv", "Is a directory"}},
        {"a full stdout", run + ">/dev/full", {"stdout", "No space left on device"}},
        {"JSON on a full stdout", run + "--json >/dev/full", {"stdout", "No space left on device"}},
        {"a closed stdout", run + ">&-", {"stdout", "it is closed"}},
        {"keys on a full stdout", "schema machine >/dev/full", {"stdout", "No space left on device"}},
        {"help on a full stdout", "run --help >/dev/full", {"stdout", "No space left on device"}},
        {"the version on a closed stdout", "--version >&-", {"stdout", "it is closed"}},
        {"a script on a closed stdout", "completion bash >&-", {"stdout", "it is closed"}},
        {"a machine that is nowhere",
         "run " + assembly + " --machine chip",
         {"chip", "configs/machines/chip.json", "the current folder", "/none/systole",
          tests::project.string()}},
        {"a run that is nowhere", "run digits", {"digits", "configs/runs/digits.json", "looked in"}},
        {"a baseline that is nowhere", "baseline p5", {"p5", "configs/baselines/p5.json", "looked in"}},
        {"a host that is nowhere", run + "--host p5", {"p5", "configs/baselines/p5.json", "looked in"}},
        {"a target that is nowhere", "validate v9", {"v9", "configs/validation/v9.json", "looked in"}},
        {"a network that is nowhere",
         "run --machine tpu_v1 --model mlp9 --timing-only",
         {"mlp9", "models/mlp9.*", "models/*/mlp9.*", "looked in"}},
        {"explaining a network that is nowhere",
         "explain mnist_cnn --model no.h5",
         {"no.h5", "no such file"}},
        {"explaining a truncated network", "explain mnist_cnn --model " + truncated, {"truncated.h5"}},
        {"explaining a file that is no network",
         "explain mnist_cnn --model " + no_network,
         {"no_network.json"}},
        {"compiling a truncated network", compile + nowhere + " --model " + truncated, {"truncated.h5"}},
        {"compiling a file that is no network", compile + nowhere + " --model " + no_text, {"no_text.txt"}},
        {"explaining a network that does not fit",
         "explain mnist_cnn --set machine.unified_buffer.rows=20",
         {"models/mnist_cnn/mnist_cnn.h5: ", "unified buffer"}},
        {"compiling a network that does not fit",
         "compile mnist_cnn --text schedule --set machine.unified_buffer.rows=20",
         {"models/mnist_cnn/mnist_cnn.h5: ", "unified buffer"}},
        {"compiling a network by its name without images",
         "compile --machine tpu_v1 --model mnist_cnn --text schedule",
         {"mnist_cnn.h5: ", "--calibration"}},
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
         ".tile 4 4 fill 1\nread_weights tile=0\nsync.wait matrix sem=3\nmatmul ub=0 acc=0 "
         "rows=1\nhalt\n",
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

TEST_CASE("Each wrong choice of what a report shows is named", "[system]") {
    const tests::Folder folder;
    const std::string program = "run docs/micro_benchmarks/tile_cost.asm --machine tpu_v1 ";
    const std::string base = (folder / "base").string();
    const std::string fast = (folder / "fast").string();
    REQUIRE(tests::sim(program + "--quiet --no-explain --out " + base).exit_code == 0);
    REQUIRE(tests::sim(program + "--quiet --no-explain --out " + fast).exit_code == 0);
    const std::string both = "report " + base + " " + fast;
    const std::string network = "run configs/runs/mnist_cnn.json ";

    check({
        {"text and CSV", both + " --text --csv", {"--text", "--csv"}},
        {"CSV into a page", both + " --csv --out " + base + ".html", {"--csv", "--out"}},
        {"text and silence", both + " --text --quiet", {"--text", "--quiet"}},
        {"CSV as JSON", both + " --csv --json", {"--csv", "--json"}},
        {"all layers of a page", both + " --all", {"--all", "--text"}},
        {"against a report that is not there", both + " --against 3", {"--against is \"3\"", "from 1 to 2"}},
        {"against none", both + " --csv --against 0", {"--against is \"0\"", "from 1 to 2"}},
        {"against no name", both + " --text --against ''", {"--against", "empty"}},
        {"against a misspelt name", both + " --text --against bsae", {"bsae", "\"base\""}},
        {"CSV of no report", "report --csv", {"REPORT"}},
        {"CSV of a missing report", both + "er --csv", {"faster", "no such file"}},
        {"all layers as JSON", network + "--all --json", {"--all", "--json"}},
        {"all layers, silently", network + "--quiet --all", {"--all", "--quiet"}},
        {"all explanations as JSON", "explain mnist_cnn --all --json", {"--all", "--json"}},
        {"watts of no array", network + "--set machine.power.array_rows=-1", {"power.array_rows", "-1"}},
        {"watts at no clock", network + "--set machine.power.clock_mhz=slow", {"power.clock_mhz", "slow"}},
    });
}

TEST_CASE("Each wrong word on the command line gets the nearest right one, or all of a few", "[system]") {
    const tests::Folder folder;
    const std::string digits = "run mnist_cnn ";
    check({
        {"letters exchanged", digits + "--bacth 3", {"--bacth: sim run has no such option", "\"--batch\""}},
        {"one dash", digits + "-batch 16", {"-batch: long options begin with two dashes", "\"--batch\""}},
        {"one dash and a mistake", digits + "-bacth 16", {"-bacth", "\"--batch\""}},
        {"one dash, a short option", "compile mnist_cnn -output x.tpu", {"-output", "\"--output\""}},
        {"an unknown short option", digits + "-z", {"-z: sim run has no such option", "sim run --help"}},
        {"with an equals sign", digits + "--bach=3", {"--bach:", "\"--batch\""}},
        {"capitals", digits + "--Batch 3", {"--Batch", "\"--batch\""}},
        {"an option of another command", "explain mnist_cnn --labels x", {"sim explain", "sim run has it"}},
        {"an option of no command", "--batch 3 mnist_cnn", {"--batch: sim has no such option", "sim run"}},
        {"an unknown option of few", "schema machine --jsn", {"--jsn", "\"--json\""}},
        {"none similar, few there", "disasm x.tpu --verbose", {"--verbose", "there are --help, --output"}},
        {"help misspelt", "--hlep", {"--hlep", "\"--help\""}},
        {"no value at the end", digits + "--batch", {"--batch: its value is missing: --batch N"}},
        {"no value before an option", digits + "--batch --quiet", {"--batch: its value is missing"}},
        {"an empty value", digits + "--machine ''", {"--machine: its value is empty"}},
        {"an empty value with equals sign", digits + "--model=", {"--model: its value is empty"}},
        {"an empty word", digits + "''", {"an argument is empty"}},
        {"an option given twice", digits + "--batch 1 --batch 2", {"--batch is given twice"}},
        {"a word too many", digits + "mnist_cnn", {"mnist_cnn", "sim run --help"}},
        {"options that exclude each other", digits + "--json --quiet", {"--quiet", "--json"}},
        {"a run misspelt", "mnist_cn", {"mnist_cn: it is neither", "\"mnist_cnn\""}},
        {"a run misspelt after run", "run mnist_cn", {"mnist_cn: there is no such file", "\"mnist_cnn\""}},
        {"a word like nothing",
         "frobnicate",
         {"frobnicate: it is neither", "; the commands are run, compile, asm, "}},
        {"a machine misspelt", digits + "--machine tpu_v2", {"tpu_v2", "did you mean \"tpu_v1"}},
        {"a machine like none",
         digits + "--machine zzz",
         {"zzz", "there are edge_tpu_pcie, edge_tpu_usb, gemmini_32, tpu_v1, tpu_v1_dram"}},
        {"a baseline misspelt", digits + "--baseline k08", {"k08", "\"k80\""}},
        {"a host like none",
         digits + "--host zzz",
         {"zzz", "there are cortex_a53, haswell_e5_2699_v3, k80, p100, t4, v100, xeon_gold_6154"}},
        {"a baseline to show", "baseline K8", {"K8", "\"k80\""}},
        {"a target misspelt", "validate tpu_v3", {"tpu_v3", "\"tpu_v1\""}},
        {"a refit of no choices", "validate tpu_v1 --refit", {"--refit", "--choices"}},
        {"a kind of file misspelt", "schema machin", {"there is no machin", "\"machine\"?\n"}},
        {"a shell misspelt", "completion bsh", {"there is no bsh", "\"bash\""}},
        {"a part misspelt", digits + "--show summry", {"there is no summry", "\"summary\""}},
        {"a part like none", digits + "--show zzz", {"zzz is not one of training, summary, matrix_unit"}},
        {"a form of text like none", "compile mnist_cnn --text poem", {"poem", "schedule, assembly"}},
        {"a pass misspelt", "compile mnist_cnn --dump-after quantise", {"quantise", "\"quantize\""}},
        {"a colour mode", digits + "--color yes", {"yes is not one of auto, always, never"}},
        {"a trace misspelt", digits + "--out /tmp/x --trace wave", {"wave", "\"waves\""}},
        {"a batch of no images", "baseline --measure --batch 0", {"--batch", "1 to 1048576"}},
        {"a batch beyond 32 bits", "baseline --measure --batch 4294967297", {"4294967297", "1048576"}},
        {"a time that is no number", "baseline --measure --min-time soon", {"--min-time", "soon"}},
        {"a message of no kind",
         "worker < " + folder.file("x.bin", std::string("\1\0\0\0\0\0\0\0x", 9)),
         {"stdin: a message is of an unknown kind"}},
        {"a message of no bytes",
         "worker < " + folder.file("none.bin", std::string(8, '\0')),
         {"stdin: a message is of an unknown kind"}},
        {"nothing to show", "baseline", {"sim baseline needs a baseline file"}},
        {"nothing to report", "report", {"REPORT is required", "sim report --help"}},
        {"no kind of file", "schema", {"sim schema needs a kind of file"}},
        {"no place for the program", "asm x.asm", {"--output is required", "sim asm --help"}},
    });
}

TEST_CASE("Each wrong value of --set is named with its key and the rule", "[system]") {
    const std::string set = "run mnist_cnn --set ";
    check({
        {"beyond 32 bits", set + "batch=4294967296", {"batch is 4294967296", "from 1 to 4294967295"}},
        {"beyond 64 bits", set + "batch=99999999999999999999", {"batch is 1e+20", "4294967295"}},
        {"below 0", set + "batch=-1", {"batch is -1", "from 1 to"}},
        {"not whole", set + "batch=2.5", {"batch is 2.5", "a whole number"}},
        {"a key in a number", set + "batch.size=2", {"batch.size cannot be set", "batch is not an object"}},
        {"a key in no section", set + "machin.clock_mhz=5", {"machin", "\"machine\""}},
        {"a frequency in words", set + "machine.clock_mhz=fast", {"clock_mhz is \"fast\"", "MHz"}},
        {"a negative frequency", set + "machine.clock_mhz=-5", {"clock_mhz is -5", "0.001"}},
        {"no key", set + "=3", {"--set =3", "KEY=VALUE"}},
        {"an empty part of a key", set + "machine..rows=3", {"machine..rows", "KEY=VALUE"}},
        {"a model of no memory", set + "machine.weight_memory.model=ddr", {"\"bandwidth\", \"dram\""}},
        {"a key of the other memory model",
         set + "machine.weight_memory.dram.banks=16",
         {"weight_memory.dram", "only where weight_memory.model is \"dram\""}},
        {"a bandwidth beside a DRAM",
         set + "machine.weight_memory.model=dram --set machine.weight_memory.bandwidth_gb_per_s=30",
         {"weight_memory.bandwidth_gb_per_s is 30", "left out"}},
        {"a DRAM of a wrong bus",
         set + "machine.weight_memory.model=dram --set machine.weight_memory.dram.bus_bits=12",
         {"weight_memory.dram.bus_bits is 12", "whole bytes"}},
        {"a key twice in a value",
         set + R"('machine.weight_memory={"bytes": 1, "bytes": 2}')",
         {"machine.weight_memory", "has the key bytes twice"}},
        {"no run key to unset", set + "bach=null", {"bach is not a known key", "\"batch\""}},
        {"no machine key to unset",
         set + "machine.weight_fifo.depth=null",
         {"weight_fifo.depth is not a known key", "\"depth_tiles\""}},
        {"a needed run key unset", set + "machine=null", {"machine is missing", "a run needs a machine"}},
        {"a needed machine key unset", set + "machine.schema=null", {"schema is missing", "sim.machine/1"}},
        {"a model unset", set + "model=null", {"model is missing", "a run needs a model or a program"}},
        {"a limit in words", "run mnist_cnn --limit ten", {"limit is \"ten\"", "a whole number"}},
        {"too many windows",
         "run mnist_cnn --power-windows 1000001",
         {"power_windows is 1000001", "1000000"}},
        {"a scale of 0", "run mnist_cnn --input-scale 0", {"input_scale is 0", "1e-09"}},
        {"a window of no cycle", "run mnist_cnn --trace-to 0", {"--trace-to is 0"}},
        {"registers of the wrong engine", "run mnist_cnn --registers 3-9", {"registers", "engine=pe"}},
    });
}

TEST_CASE("Each wrong value in a configuration file is named with its place and the rule", "[system]") {
    check(
        "run ", shipped("configs/runs/mnist_cnn.json"),
        {{"/schema", nullptr, {"schema is missing", "\"sim.run/1\""}},
         {"/schema", "sim.run/9", {"schema is \"sim.run/9\"", "\"sim.run/1\""}},
         {"/machine", nullptr, {"machine is missing", "a run needs a machine"}},
         {"/model", nullptr, {"model is missing", "a run needs a model or a program"}},
         {"/program", "x.tpu", {"program is \"x.tpu\"", "not both"}},
         {"/batch", "3", {"batch is \"3\"", "from 1 to 4294967295"}},
         {"/batch", true, {"batch is true", "a whole number"}},
         {"/batchs", 3, {"batchs is 3", "\"batch\""}},
         {"/input", 3, {"input is 3", "a list of texts"}},
         {"/labels", {"a", "b"}, {"labels is [\"a\",\"b\"]", "a text in quotes"}},
         {"/timing_only", "yes", {"timing_only is \"yes\"", "true or false"}},
         {"/random_input", -1, {"random_input is -1", "from 0 to 18446744073709551615"}},
         {"/trace", 3, {"trace is 3", "an object"}},
         {"/trace", {{"kinds", "vcd"}}, {"trace.kinds is \"vcd\"", "there are timeline, csv, text, waves"}}});
    check("run mnist_cnn --machine ", shipped("configs/machines/tpu_v1.json"),
          {{"/schema", "sim.run/1", {"schema is \"sim.run/1\"", "\"sim.machine/1\""}},
           {"/name", 3, {"name is 3", "a text in quotes"}},
           {"/clock_mhz", "700", {"clock_mhz is \"700\"", "0.001 to 1000000 MHz"}},
           {"/matrix_unit", 256, {"matrix_unit is 256", "an object"}},
           {"/matrx_unit", Json::object(), {"matrx_unit is {}", "\"matrix_unit\""}},
           {"/matrix_unit/rows", 5000, {"matrix_unit.rows is 5000", "from 1 to 4096 cells"}},
           {"/matrix_unit/formats", Json::array(), {"matrix_unit.formats is []", "must have an entry"}},
           {"/matrix_unit/formats",
            {{{"activations", "int9"}, {"weights", "int8"}}},
            {"matrix_unit.formats[0].activations is \"int9\"", "\"int8\""}},
           {"/accumulators/banks", 3, {"accumulators.banks is 3", "accumulators.rows, 4096"}},
           {"/weight_memory/bytes", 100, {"weight_memory.bytes is 100", "65536"}},
           {"/weight_memory/dram", Json::object(), {"weight_memory.dram is {}", "model is \"dram\""}},
           {"/power/idle_watts", 500, {"power.busy_watts", "power.idle_watts, 500"}},
           {"/sources/clock_mh", "x", {"sources names \"clock_mh\"", "no such key"}}});
    check("baseline ", shipped("configs/baselines/k80.json"),
          {{"/schema", "sim.machine/1", {"schema is \"sim.machine/1\"", "\"sim.baseline/1\""}},
           {"/cores", 0, {"cores is 0", "from 1 to 1048576 cores"}},
           {"/cores", nullptr, {"cores is missing", "needed"}},
           {"/corse", 1, {"corse is 1", "\"cores\""}},
           {"/memory_gb_per_s", 0, {"memory_gb_per_s is 0", "GB/s"}},
           {"/efficiency/precision", "fp64", {"efficiency.precision is \"fp64\"", "\"fp32\", \"int8\""}}});
    check("validate ", shipped("configs/validation/tpu_v1.json"),
          {{"/schema", "sim.run/1", {"schema is \"sim.run/1\"", "\"sim.validation/2\""}},
           {"/tabels", 1, {"tabels is 1", "\"tables\""}},
           {"/fit/parameters/0/from", "x", {"fit.parameters[0].from is \"x\"", "it must be a number from 0"}},
           {"/models/mlp0", "x", {"models.mlp0 is \"x\"", "an object is needed"}},
           {"/runs/base/machin", "x", {"runs.base.machin is \"x\"", "\"machine\""}},
           {"/lists/scales/0/name", "0.25", {"lists.scales[0]", "letters, digits and _"}},
           {"/values/ridge", "2 *", {"values.ridge is \"2 *\""}},
           {"/models/MLP1/sha256",
            std::string(64, '0'),
            {"models.MLP1: ", "mlp1.json has the SHA-256 ec248124", "pinned is 00000000"}},
           {"/tables/0/rows", 3, {"tables[0].rows is 3", "a list of objects"}}});
}

TEST_CASE("Each JSON text that is wrong as such ends with one line that names the place", "[system]") {
    const tests::Folder folder;
    const auto twice = [&](std::string text, const std::string& key) {
        const std::size_t at = text.find("\"" + key + "\"");
        REQUIRE(at != std::string::npos);
        return text.insert(at, "\"" + key + "\": 1, ");
    };
    const auto of_project = [](const std::string& name) { return tests::text_in(tests::project / name); };
    const std::string graph = of_project("models/isca17/mlp0.json");
    const auto name = [&](const std::string& which, const std::string& text) {
        return folder.file(which, text);
    };
    check({
        {"a key twice in a run",
         "run " + name("1.json", twice(of_project("configs/runs/mnist_cnn.json"), "batch")),
         {"1.json: has the key batch twice"}},
        {"a key twice in a section of a machine",
         "run mnist_cnn --machine " +
             name("2.json", twice(of_project("configs/machines/tpu_v1.json"), "depth_tiles")),
         {"2.json: has the key weight_fifo.depth_tiles twice"}},
        {"a key twice in a baseline",
         "baseline " + name("3.json", twice(of_project("configs/baselines/k80.json"), "cores")),
         {"3.json: has the key cores twice"}},
        {"a key twice in a target",
         "validate " + name("4.json", twice(of_project("configs/validation/tpu_v1.json"), "models")),
         {"4.json: has the key models twice"}},
        {"a key twice in a layer of a graph",
         "run --machine tpu_v1 --timing-only --model " + name("5.json", twice(graph, "op")),
         {"5.json: it has the key layers[0].op twice"}},
        {"a key twice in a report",
         "report " + name("6.json", R"({"schema": "sim.report/1", "tops": {"peak": 1, "peak": 2}})"),
         {"6.json: has the key tops.peak twice"}},
        {"a comma too many",
         "run " + name("7.json", R"({"schema": "sim.run/1",})"),
         {"7.json", "line 1, column 24"}},
        {"no comma", "run " + name("8.json", "{\n\"schema\": 1\n\"machine\": 2}"), {"8.json", "line 3"}},
        {"an empty file", "run " + name("9.json", ""), {"9.json: is not JSON", "unexpected end of input"}},
        {"a list", "run mnist_cnn --machine " + name("10.json", "[]"), {"10.json: is []", "a JSON object"}},
        {"no keys", "run mnist_cnn --machine " + name("11.json", "{}"), {"11.json: schema is missing"}},
        {"deep nesting",
         "run " + name("12.json", R"({"schema": )" + std::string(40, '[') + std::string(40, ']') + "}"),
         {"12.json: is nested more than 32 deep"}},
        {"a number too large", "run " + name("13.json", R"({"batch": 1e999})"), {"13.json", "1e999"}},
        {"other bytes",
         "run " + name("14.json", "\xff\xfe{\\x00}"),
         {"14.json: is UTF-16; JSON is read as UTF-8"}},
        {"a comment in a run",
         "run " + name("c1.json", "{\n  // the batch\n  \"batch\": 2}"),
         {"c1.json: has a comment in line 2; JSON has none"}},
        {"a comment before a graph",
         "run --machine tpu_v1 --timing-only --model " + name("c2.json", "/* a network */\n" + graph),
         {"c2.json: it has a comment in line 1; JSON has none"}},
        {"another kind of comment before a graph",
         "run --machine tpu_v1 --timing-only --model " + name("c5.json", "# a network\n" + graph),
         {"c5.json: it has a comment in line 1; JSON has none"}},
        {"a graph as YAML",
         "run --machine tpu_v1 --timing-only --model " + name("c6.json", "schema: sim.graph/1\n"),
         {"c6.json: it is not JSON", "line 1, column 1"}},
        {"a graph as UTF-16",
         "run --machine tpu_v1 --timing-only --model " + name("c3.json", std::string("\xff\xfe{\0\"\0", 6)),
         {"c3.json: it is UTF-16; JSON is read as UTF-8"}},
        {"a graph as UTF-16 without a mark",
         "run --machine tpu_v1 --timing-only --model " + name("c4.json", std::string("\0{\0\"", 4)),
         {"c4.json: it is UTF-16; JSON is read as UTF-8"}},
        {"a machine as a run", "run configs/machines/tpu_v1.json", {"\"sim.machine/1\"", "\"sim.run/1\""}},
        {"a network as a run", "run models/isca17/mlp0.json", {"\"sim.graph/1\"", "\"sim.run/1\""}},
        {"a baseline as a machine",
         "run mnist_cnn --machine configs/baselines/k80.json",
         {"\"sim.baseline/1\"", "\"sim.machine/1\""}},
        {"a run as a network",
         "run --machine tpu_v1 --model configs/runs/mnist_cnn.json --timing-only",
         {"\"sim.run/1\"", "\"sim.graph/1\" for a network"}},
        {"a run as a report", "report configs/runs/mnist_cnn.json", {"\"sim.run/1\"", "\"sim.report/1\""}},
    });
}

TEST_CASE("Each wrong file of images or labels ends with one line that names it and the rule", "[system]") {
    const tests::Folder folder;
    std::size_t files = 0;
    const auto with = [&](const std::string& option, const std::string& bytes) {
        return "run mnist_cnn --limit 1 " + option + " " +
               folder.file("in" + std::to_string(files++) + ".bin", bytes);
    };
    const auto images = [&](const std::string& bytes) { return with("--input", bytes); };
    const auto labels = [&](const std::string& bytes) { return with("--labels", bytes); };
    constexpr std::size_t digits = 500;
    constexpr std::size_t pixels = 784;
    std::string ten(digits, '\0');
    ten[7] = 10;
    const std::string idx_labels = std::string("\0\0\x08\x01\0\0\x01\xf4", 8);
    const std::string two = idx_images(2, 28, 28);
    const std::string two_file = folder.file("two.idx", two);
    const std::string folder_with_text = (folder / "pictures").string();
    std::filesystem::create_directories(folder_with_text);
    std::filesystem::create_directories(folder / "none");
    static_cast<void>(folder.file("pictures/a.png", "text"));
    check({
        {"no bytes", images(""), {"is empty", "IDX, NPY, NPZ, PNG, JPEG or BMP"}},
        {"another format", images("P5 28 28 255\n"), {"first bytes", "IDX, NPY, NPZ, PNG, JPEG or BMP"}},
        {"numbers as text", images("0,1,2\n"), {"first bytes", "IDX, NPY, NPZ, PNG, JPEG or BMP"}},
        {"a cut IDX header", images(two.substr(0, 6)), {"the file ends within the IDX header"}},
        {"cut IDX data", images(two.substr(0, 116)), {"has 100 bytes", "says 1568"}},
        {"bytes after IDX data", images(two + "x"), {"bytes follow the last image"}},
        {"IDX of floats", images(std::string("\0\0\x0d\x03", 4) + two.substr(4)), {"0x0d", "0x08"}},
        {"IDX of one dimension", images(idx_labels + ten), {"1 dimensions", "3 (N, H, W) or 4"}},
        {"no images", images(idx_images(0, 28, 28)), {"image count is 0", "at least 1"}},
        {"a cut gzip file", images("\x1f\x8b\x08"), {"gzip data ends early"}},
        {"a damaged gzip file", images("\x1f\x8b\x07" + std::string(20, 'x')), {"gzip data is damaged"}},
        {"a damaged PNG file", images("\x89PNG\r\n\x1a\n" + std::string(20, 'x')), {"PNG header"}},
        {"a vector too short",
         images(npy("|u1", "(20, 783)", std::string(20 * 783, 'a'))),
         {"20x783x1", "1x1x784"}},
        {"three channels",
         images(npy("|u1", "(1, 28, 28, 3)", std::string(pixels * 3, 'a'))),
         {"28x28x3", "1x1x784"}},
        {"NPY of integers",
         images(npy("<i4", "(1, 28, 28)", std::string(pixels * 4, 'a'))),
         {"values are int32 or int64", "mnist_cnn takes float32, and 8-bit pixels (uint8) or floats"}},
        {"NPY of long integers to be resized",
         images(npy("<i8", "(1, 28, 28)", std::string(pixels * 8, '\0'))) + " --resize 28",
         {"values are int32 or int64", "resize is for 8-bit pixels"}},
        {"NPY of complex numbers", images(npy("<c8", "(1, 28, 28)", "")), {"'<c8'", "'<f4'"}},
        {"a value that is no number",
         images(npy("<f4", "(1, 28, 28)", repeated(std::nanf(""), pixels))),
         {"value 0 is nan", "finite"}},
        {"a dimension beyond 32 bits",
         images(npy("<f4", "(5000000000, 28, 28)", "")),
         {"is 5000000000", "at most 4294967295"}},
        {"an array of no dimension",
         images(npy("<f4", "()", repeated(1.0F, 1))),
         {"0 dimensions", "2 (H, W)"}},
        {"cut NPY data",
         images(npy("<f4", "(2, 28, 28)", std::string(99, 'a'))),
         {"has 99 bytes", "says 6272"}},
        {"a cut NPY header", images("\x93NUMPY"), {"the file ends within the NPY header"}},
        {"a newer NPY version",
         images(std::string("\x93NUMPY\x03\0\0\0", 10)),
         {"version is 3.0", "1.0 and 2.0"}},
        {"no file in a folder", "run mnist_cnn --input " + (folder / "none").string(), {"empty", "PNG"}},
        {"another file in a folder",
         "run mnist_cnn --input " + folder_with_text,
         {"a.png", "not a PNG, JPEG or BMP file"}},
        {"images as calibration", with("--calibration", idx_images(1, 10, 10)), {"10x10x1", "1x1x784"}},
        {"a missing calibration",
         "run mnist_cnn --limit 1 --calibration no.npy",
         {"no.npy: there is no such file"}},
        {"a class that is not there",
         labels(idx_labels + ten),
         {"label 7 is 10", "mnist_cnn has 10 classes, 0 to 9"}},
        {"a class far from the classes",
         labels(npy("<i8", "(500,)", repeated(std::int64_t{4294967295}, digits))),
         {"label 0 is 4294967295", "10 classes"}},
        {"a class beyond 32 bits",
         labels(npy("<i8", "(500,)", repeated(std::int64_t{4294967296}, digits))),
         {"label 0 is 4294967296", "from 0 to 4294967295"}},
        {"a class below 0", labels(npy("<i4", "(500,)", repeated(-1, digits))), {"label 0 is -1", "from 0"}},
        {"labels as floats",
         labels(npy("<f4", "(500,)", repeated(0.0F, digits))),
         {"'<f4'", "labels are integers"}},
        {"one row for each label",
         labels(npy("|u1", "(500, 10)", std::string(5000, 'a'))),
         {"2 dimensions", "labels have 1"}},
        {"a label too few",
         labels(npy("|u1", "(499,)", std::string(499, '\0'))),
         {"499 labels", "500 images"}},
        {"labels as text", labels("5\n3\n"), {"first bytes", "IDX or NPY"}},
        {"no bytes of labels", labels(""), {"is empty", "IDX or NPY"}},
        {"labels without images",
         "run --machine tpu_v1 --model models/mnist_cnn/mnist_cnn.h5 --labels x",
         {"labels is \"x\"", "an input"}},
        {"a cut zip archive",
         images("PK\x03\x04" + std::string(20, 'x')),
         {"it is not a zip file, or it is damaged"}},
        {"an empty zip archive",
         images("PK\x05\x06" + std::string(18, '\0')),
         {"the zip archive is empty", "holds arrays"}},
        {"a cut JPEG file", images("\xff\xd8\xff\xe0" + std::string(20, 'x')), {"JPEG header"}},
        {"a cut BMP file", images("BM" + std::string(20, '\1')), {"header has 16843009 bytes"}},
        {"a BMP file larger than its bytes",
         images("BM" + std::string(8, '\0') + "\x36" + std::string(3, '\0') + "\x28" + std::string(4, '\0') +
                std::string("\x27\0\0\0\x27\0\0\x01\0\x18\0", 11) + std::string(24, '\0')),
         {"cannot hold", "of 24 bits"}},
        {"integers of another type",
         images(npy("|i1", "(2, 784)", std::string(pixels * 2, 'a'))),
         {"values are int8", "mnist_cnn takes float32"}},
        {"images of another size",
         images(npy("|u1", "(1, 30, 30)", std::string(900, 'a'))),
         {"30x30x1", "1x1x784"}},
        {"a crop larger than the image", images(two) + " --crop 29", {"images are 28x28", "crop 29x29"}},
        {"floats to be resized",
         images(npy("<f4", "(1, 28, 28)", std::string(pixels * 4, '\0'))) + " --resize 28",
         {"values are float32", "8-bit pixels"}},
        {"floats to be normalized",
         images(npy("<f4", "(1, 28, 28)", std::string(pixels * 4, '\0'))) + " --mean 0.5",
         {"values are float32", "mean, std and preset"}},
        {"more means than channels",
         images(two) + " --preset imagenet-torch",
         {"mean has 3 numbers", "1 channel"}},
        {"colours of gray images", images(two) + " --channels bgr", {"1 channel;", "bgr needs 3"}},
        {"a vector with a layout",
         images(npy("|u1", "(2, 784)", std::string(pixels * 2, 'a'))) + " --layout chw",
         {"(2, 784)", "(C, H, W)"}},
        {"a file for another input",
         "run mnist_cnn --input images=" + two_file,
         {"images=", "no input of that name"}},
        {"a size that is none", images(two) + " --resize 28y28", {"resize is \"28y28\"", "HEIGHTxWIDTH"}},
        {"a preset with numbers",
         images(two) + " --preset raw --mean 1",
         {"preset is \"raw\"", "goes without"}},
        {"a preset of no known name",
         images(two) + " --preset imagenet-tourch",
         {"imagenet-tourch", "imagenet-torch"}},
        {"a mean that is no number", images(two) + " --mean half", {"mean is \"[half]\"", "numbers"}},
        {"names of other classes",
         with("--label-names", "cat\ndog\n"),
         {"there are 2 names", "mnist_cnn has 10 classes"}},
        {"no names", with("--label-names", "\n"), {"holds no names"}},
        {"names that are no text", with("--label-names", std::string("\x89PNG", 4) + "\x01"), {"is no name"}},
        {"missing names", "run mnist_cnn --label-names no.txt", {"no.txt: there is no such file"}},
        {"outputs without values",
         "run mnist_cnn --timing-only --outputs x",
         {"outputs is \"x\"", "a timing-only run has no outputs"}},
        {"outputs in a file", images(two) + " --outputs " + two_file + "/x", {"two.idx/x", "cannot be made"}},
        {"missing images", "run mnist_cnn --input no.npy", {"no.npy: there is no such file"}},
        {"missing labels", "run mnist_cnn --labels no.npy", {"no.npy: there is no such file"}},
    });
}

TEST_CASE("Each wrong network ends with one line that names place, value and rule", "[system]") {
    const std::string timed = "run --machine tpu_v1 --timing-only --model ";
    const auto layer = [](const std::string& op) {
        return Json{{"name", "l1"}, {"op", op}, {"inputs", Json::array({"input"})}, {"units", 4}};
    };
    const Json graph{{"schema", "sim.graph/1"},
                     {"name", "net"},
                     {"input", {{"shape", Json::array({8})}}},
                     {"weights", {{"seed", 1}}},
                     {"layers", Json::array({layer("dense")})},
                     {"output", "l1"}};
    check(
        timed, graph,
        {{"/schema", "sim.graph/2", {"schema is \"sim.graph/2\"", "\"sim.graph/1\""}},
         {"/name", nullptr, {"name is absent", "a text in quotes"}},
         {"/lairs", 1, {"\"lairs\" is 1", "\"layers\""}},
         {"/input/shape", Json::array({0}), {"input: shape is [0]", "from 1 to 4294967295"}},
         {"/input/shape",
          Json::array({4294967296}),
          {"input: shape is [4294967296]", "from 1 to 4294967295"}},
         {"/input/shape", {1, 2}, {"input: shape is [1, 2]", "[height, width, channels]"}},
         {"/weights/seed", "x", {"weights: seed is \"x\"", "from 0 to 2^64 - 1"}},
         {"/activation_bits", 4, {"activation_bits is 4", "8 or 16"}},
         {"/layers", Json::array(), {"layers is []", "at least one"}},
         {"/layers/0", 7, {"layers[0] is 7", "an object"}},
         {"/layers/0", layer("dence"), {"layer \"l1\": op is \"dence\"", "did you mean \"dense\"?"}},
         {"/layers/0", layer("qqqqqqqqqqqqqqqqqqq"), {"op is \"qqqqqqqqqqqqqqqqqqq\"", "one of abs, acos, "}},
         {"/layers/0/units", 0, {"layer \"l1\": units is 0", "from 1 to 4294967295"}},
         {"/layers/0/units", 4294967296, {"layer \"l1\": units is 4294967296", "from 1 to 4294967295"}},
         {"/layers/0/unit", 1, {"layer \"l1\": \"unit\" is 1", "\"units\""}},
         {"/layers/0/activation", "rellu", {"activation is \"rellu\"", "did you mean \"relu\"?"}},
         {"/layers/0/inputs",
          Json::array({"inptu"}),
          {"inputs has \"inptu\"", "\"input\" or the name of a layer before"}},
         {"/output", "l2", {"output is \"l2\"", "the last layer, \"l1\""}}});

    const tests::Folder folder;
    std::size_t files = 0;
    const auto text = [&](const std::string& value, const std::string& node) {
        return timed + folder.file("net" + std::to_string(files++) + ".txt",
                                   "graph \"net\"\ninputs %0\noutputs %1\n%0 float32 1x8 \"in\"\n" + value +
                                       "\n" + node + "\n");
    };
    const auto keras = [&](const std::string& config) {
        const std::filesystem::path path = folder / ("net" + std::to_string(files++) + ".h5");
        tests::KerasFile{.model_config = config, .layers = {}}.write(path);
        return timed + path.string();
    };
    const auto sequential = [&](const std::string& layers) {
        return keras(R"({"class_name": "Sequential", "config": {"name": "s", "layers": [)" +
                     std::string(R"({"class_name": "InputLayer", "config": {"name": "in", "batch_shape": )") +
                     R"([null, 4]}}, )" + layers + "]}}");
    };
    const auto archive = [&](const std::vector<tests::MadeEntry>& entries) {
        return timed + folder.file("net" + std::to_string(files++) + ".keras", tests::made_zip(entries));
    };
    const tests::MadeEntry config{.name = "config.json", .bytes = R"({"class_name": "Sequential"})"};
    const tests::MadeEntry no_weights{.name = "model.weights.h5", .bytes = "none"};
    const std::string value = "%1 float32 1x8 \"out\"";
    const std::string weights = folder.file("weights.bin", "\x93NUMPY");
    const std::string damaged = folder.file("damaged.tflite", std::string("\xff\xff\xff\xffTFL3", 8));
    const std::string convolution =
        tests::text_in(tests::project / "tests/fuzz/seeds/tflite/convolution.tflite");
    const std::string other_version = with_version(convolution, 9);
    check({
        {"an operator misspelt", text(value, "%1 = rellu(%0) \"out\""), {".txt:6:6: \"rellu\"", "\"relu\""}},
        {"an attribute misspelt",
         text(value, "%1 = relu(%0) \"out\" {maxinum 6.0}"),
         {".txt:6:", "an attribute of relu", "\"maximum\""}},
        {"a number format misspelt",
         text("%1 float31 1x8 \"out\"", ""),
         {".txt:5:4: \"float31\"", "\"float32\""}},
        {"no shape", text("%1 float32 wide \"out\"", ""), {".txt:5:12: \"wide\"", "1x28x28x1"}},
        {"another shape of a result",
         text("%1 float32 1x9 \"out\"", "%1 = relu(%0) \"out\""),
         {"net", "node 0 \"out\"", "1x8"}},
        {"no node", text(value, ""), {"net", "%1"}},
        {"a damaged TFLite file", timed + damaged, {"damaged.tflite: it is damaged", "leave the file"}},
        {"a cut TFLite file",
         timed + folder.file("cut.tflite", convolution.substr(0, convolution.size() - 40)),
         {"cut.tflite: it is damaged"}},
        {"a TFLite file of another version",
         timed + folder.file("version.tflite", other_version),
         {"version.tflite: its version is 9; it must be 3"}},
        {"another format",
         timed + weights,
         {"weights.bin", "Keras HDF5 (.h5), Keras archive (.keras), graph file (JSON)"}},
        {"weights without a model", keras(""), {".h5", "no model_config"}},
        {"a model that is not JSON", keras(R"({"class_name": )"), {"model_config is not JSON", "line 1"}},
        {"a key twice in a model",
         keras(R"({"class_name": "Sequential", "class_name": "Model"})"),
         {"model_config has the key class_name twice"}},
        {"a kind of model",
         keras(R"({"class_name": "Graph", "config": {}})"),
         {"\"Graph\"", "Sequential and Functional"}},
        {"a model without layers",
         keras(R"({"class_name": "Sequential", "config": {"layers": []}})"),
         {"layers is []"}},
        {"a layer that is not read",
         sequential(R"({"class_name": "Densse", "config": {"name": "d"}})"),
         {"layer \"d\": class_name is \"Densse\"", "docs/operators.md"}},
        {"a number of units",
         sequential(R"({"class_name": "Dense", "config": {"name": "d", "units": 0}})"),
         {"layer \"d\": units is 0", "from 1 to 4294967295"}},
        {"a function misspelt",
         sequential(R"({"class_name": "Activation", "config": {"name": "a", "activation": "rellu"}})"),
         {"layer \"a\": activation is \"rellu\"", "docs/operators.md"}},
        {"a layer without weights",
         sequential(R"({"class_name": "Dense", "config": {"name": "d", "units": 2}})"),
         {"layer \"d\"", "no weights"}},
        {"code in a network",
         sequential(R"({"class_name": "Lambda", "config": {"name": "l", "function": ["4wEAAAA="]}})"),
         {"layer \"l\": class_name is \"Lambda\"", "never run"}},
        {"a layer of somebody's own",
         sequential(R"({"class_name": "Dense", "registered_name": "my>Dense", "config": {"name": "d"}})"),
         {"layer \"d\": class_name is \"my>Dense\"", "docs/operators.md"}},
        {"a layer of a nested model",
         sequential(R"({"class_name": "Sequential", "config": {"name": "s", "layers": [)"
                    R"({"class_name": "Densse", "config": {"name": "d"}}]}})"),
         {"layer \"s/d\": class_name is \"Densse\""}},
        {"a mode of Keras 1",
         sequential(R"({"class_name": "BatchNormalization", "config": {"name": "b", "mode": 1}})"),
         {"layer \"b\": mode is 1", "0 or 2"}},
        {"a zip file of something else",
         archive({{.name = "word/document.xml", .bytes = "<document/>"}}),
         {".keras: it is a zip file without config.json and model.weights.h5"}},
        {"two configurations",
         archive({config, config, no_weights}),
         {".keras: it has two entries of one name"}},
        {"no zip file at all", timed + folder.file("cut.keras", "PK\x03\x04"), {"cut.keras: ", "zip"}},
        {"no weights in an archive", archive({config, no_weights}), {".keras: it is not an HDF5 file"}},
        {"a network as a run", "run models/mnist_cnn/mnist_cnn.h5", {"machine is missing"}},
        {"a network alone", "models/mnist_cnn/mnist_cnn.h5", {"machine is missing"}},
        {"more made-up input than 32 bits",
         "run mnist_cnn --random-input 1 --limit 4294967296",
         {"4294967296 inputs", "at most 4294967295"}},
        {"a missing network", timed + "no.h5", {"no.h5: there is no such file"}},
        {"a weight memory too small for all layers",
         "run mnist_cnn --limit 1 --set machine.weight_memory.bytes=200000",
         {"21 tiles of 256 x 256 bytes, 1376256 bytes in all", "200000 bytes"}},
        {"a float reference of a timing-only run",
         "run mnist_cnn --timing-only --float-reference",
         {"float_reference is true", "timing-only"}},
    });
}

TEST_CASE("What a user's names and numbers hold does not reach the terminal", "[system]") {
    const tests::Folder folder;
    const std::string digits(300, '7');
    const std::string shown = "77777777777777777777... (300 digits)";
    const std::string named = folder.file("a\x1b[31m.json", "{}");
    const std::string program = "run docs/micro_benchmarks/fifo_runs_dry.asm --machine tpu_v1 ";
    const std::string array =
        folder.file("a.npy", npy("<i4", "(" + digits.substr(0, 60) + ")", repeated(std::int32_t{0}, 1)));
    check({
        {"a name that colours",
         "run --machine tpu_v1 --timing-only --model '" + named + "'",
         {"a\\x1b[31m.json"}},
        {"a missing file of such a name", "run $'x\\e]0;title\\a.json'", {"x\\x1b]0;title\\x07.json"}},
        {"an option of such a name", "run mnist_cnn --$'\\e[2J'", {"\\x1b[2J"}},
        {"a row of 300 digits", program + "--print ub:" + digits, {shown}},
        {"a number of rows of 300 digits", program + "--print acc:0+" + digits, {shown}},
        {"a type of 300 digits", program + "--print ub:0:int8x" + digits, {shown}},
        {"batches of 300 digits", "advise mnist_cnn --batches " + digits, {shown}},
        {"a cycle of 300 digits in a program",
         "asm -o " + (folder / "a.tpu").string() + " " +
             folder.file("a.asm", "nop count=" + digits + "\nhalt\n"),
         {"a.asm:1:5: count=7777", "...: must be a whole number from 1 to 1048576"}},
        {"a range of 300 digits",
         "run mnist_cnn --set machine.matrix_unit.engine=pe --registers 1-" + digits,
         {"registers"}},
        {"an extent of 60 digits", "run mnist_cnn --input " + array, {"a.npy"}},
        {"a JSON number of 300 digits",
         "run " + folder.file("run.json",
                              R"({"schema": "sim.run/1", "machine": "tpu_v1", "batch": )" + digits + "}"),
         {"run.json", "batch is 7.77"}},
    });
}

TEST_CASE("What a machine cannot run is refused before minutes of work", "[system]") {
    const tests::Folder folder;
    const std::string large = folder.file("large.json", Json({{"schema", "sim.graph/1"},
                                                              {"name", "large"},
                                                              {"input", {{"shape", {16384, 16384, 1}}}},
                                                              {"weights", {{"seed", 1}}},
                                                              {"layers",
                                                               {{{"name", "c"},
                                                                 {"op", "convolution"},
                                                                 {"inputs", {"input"}},
                                                                 {"kernel", {3, 3}},
                                                                 {"stride", {2, 2}},
                                                                 {"padding", "same"},
                                                                 {"filters", 1}}}},
                                                              {"output", "c"}})
                                                            .dump());
    auto png = input::tests::bytes_of({.width = 30000, .height = 30000, .color = input::tests::Color::Rgb});
    png.resize(3'000'000);  // as large as the file of so many black pixels
    const std::string picture = folder.file("large.png", {png.begin(), png.end()});
    check({
        {"an image of 16384 x 16384",
         "run --machine tpu_v1 --timing-only --model " + large,
         {"large.json: layer \"c\"", "4096 accumulator rows"}},
        {"the same with values",
         "run --machine tpu_v1 --random-input 1 --model " + large,
         {"large.json: layer \"c\"", "4096 accumulator rows"}},
        {"a picture of 30000 x 30000",
         "run mnist_cnn --set labels=null --input " + picture,
         {"large.png", "30000x30000x3", "1x1x784"}},
    });
}

TEST_CASE("Devices, pipes and files without end are refused before they are read", "[system]") {
    const tests::Folder folder;
    const std::string pipe = (folder / "pipe").string();
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    const std::string huge = folder.file("huge.json", "{");
    std::filesystem::resize_file(huge, std::uintmax_t{1} << 40U);
    const std::string pictures = (folder / "pictures").string();
    std::filesystem::create_directories(pictures);
    REQUIRE(mkfifo((pictures + "/pipe").c_str(), 0600) == 0);
    const std::string zero = "/dev/zero";
    const std::string folder_path = folder.path().string();
    std::vector<WrongInput> rows;
    const std::string digits = "run mnist_cnn --limit 1 ";
    for (const std::string& before :
         {std::string("run "), digits + "--machine ", digits + "--model ", digits + "--input ",
          digits + "--labels ", digits + "--calibration ", digits + "--baseline ", digits + "--host ",
          digits + "--program ", std::string("compile -o x.tpu "), std::string("disasm "),
          std::string("asm -o x.tpu "), std::string("explain "), std::string("report "),
          std::string("baseline "), std::string("validate "), std::string("validate --page x.md --template "),
          std::string("baseline --measure --model ")}) {
        rows.push_back({"a device", before + zero, {"/dev/zero: is a device", "a regular file"}});
        rows.push_back({"a pipe", before + pipe, {pipe + ": is a pipe", "a regular file"}});
    }
    rows.push_back({"a device in a report's folder", "report /dev", {"report.json"}});
    rows.push_back({"the output of a command", digits + "--labels <(echo)", {"is a pipe"}});
    rows.push_back({"a huge run", "run " + huge, {"huge.json: takes 1099511627776 bytes", "1073741824"}});
    rows.push_back(
        {"huge images", digits + "--input " + huge, {"huge.json: takes 1099511627776 bytes", "4294967296"}});
    rows.push_back(
        {"a huge program", "disasm " + huge, {"huge.json: takes 1099511627776 bytes", "8589934592"}});
    rows.push_back({"a folder as a run", "run " + folder_path, {"is a directory", "a regular file"}});
    rows.push_back({"a folder as a program", "disasm " + folder_path, {"is a directory", "a regular file"}});
    rows.push_back(
        {"a folder as a network", digits + "--model " + folder_path, {"is a directory", "a regular file"}});
    rows.push_back(
        {"a folder as labels", digits + "--labels " + folder_path, {"is a directory", "a regular file"}});
    rows.push_back({"a pipe among images", digits + "--input " + pictures, {"pictures/pipe: is a pipe"}});
    check(rows);
}

TEST_CASE("Each wrong program ends with one line that names the byte or what does not fit", "[system]") {
    const tests::Folder folder;
    const std::string program = (folder / "right.tpu").string();
    REQUIRE(tests::sim("compile mnist_cnn --limit 2 --batch 2 -o " + program).exit_code == 0);
    const std::string right = tests::text_in(program);
    REQUIRE(right.size() > 1000);
    const auto changed = [&](std::size_t byte) {
        std::string bytes = right;
        bytes[byte] = static_cast<char>(bytes[byte] + 1);
        return "disasm " + folder.file("byte" + std::to_string(byte) + ".tpu", bytes);
    };
    const std::string nothing =
        folder.file("nothing.s", ".buffer io input 0 256\nread_host io ub=0 block=256\nhalt\n");
    const std::string bare = "run --machine tpu_v1 " + nothing + " ";
    check({
        {"no bytes", "disasm " + folder.file("none.tpu", ""), {"none.tpu: byte 0", "8 bytes; 0 are left"}},
        {"four bytes",
         "disasm " + folder.file("four.tpu", right.substr(0, 4)),
         {"four.tpu: byte 0", "4 are left"}},
        {"text",
         "disasm " + folder.file("text.tpu", "matmul ub=0\n"),
         {"text.tpu: byte 0: not a program file"}},
        {"a byte of the magic number", changed(2), {"byte2.tpu: byte 0: not a program file"}},
        {"another version", changed(9), {"byte9.tpu: byte 8: version is", "reads version"}},
        {"another checksum", changed(12), {"byte12.tpu: byte 12: CRC-32"}},
        {"another length", changed(16), {"byte16.tpu: byte 16: the content is"}},
        {"another byte", changed(right.size() - 1), {"CRC-32 of the content"}},
        {"a byte too many",
         "disasm " + folder.file("more.tpu", right + "x"),
         {"more.tpu: byte 16: the content is"}},
        {"half of it",
         "run mnist_cnn --program " + folder.file("half.tpu", right.substr(0, 500)),
         {"half.tpu: byte 16"}},
        {"another number of images",
         "run mnist_cnn --limit 3 --program " + program,
         {"right.tpu", "made for 2 images", "has 3"}},
        {"images of another shape",
         "run --machine tpu_v1 --program " + program + " --input " +
             folder.file("i.idx", idx_images(2, 10, 10)),
         {"right.tpu", "10x10x1", "28x28x1"}},
        {"classes that are not there",
         "run mnist_cnn --limit 2 --program " + program + " --labels " +
             folder.file("l.npy", npy("|u1", "(500,)", std::string(500, '\x0a'))),
         {"label 0 is 10", "10 classes, 0 to 9"}},
        {"no images", "run --machine tpu_v1 --program " + program, {"takes images", "--random-input"}},
        {"a batch", bare + "--batch 2", {"batch is 2", "it goes with a model"}},
        {"images for none",
         bare + "--input models/mnist_cnn/digits-images.idx3-ubyte.gz",
         {"takes no images"}},
        {"made-up images for none", bare + "--random-input 1", {"takes no input"}},
        {"labels for none", bare + "--labels x", {"labels is \"x\"", "they need an input"}},
        {"a float reference", bare + "--float-reference", {"float_reference is true", "not a program"}},
        {"a model too", bare + "--model net.h5", {"nothing.s is a program", "net.h5"}},
        {"no machine", "run " + nothing, {"machine is missing", "tpu_v1"}},
        {"an unknown buffer", bare + "--print oi", {"no host buffer \"oi\"", "there are: io"}},
        {"an unknown type of numbers",
         bare + "--print io:int9",
         {"io:int9", "uint8, int8, int16, int32 or float32"}},
        {"a batch that cores cannot share",
         "run mnist_cnn --machine tpu_v2_8 --limit 9 --batch 12",
         {"batch is 12", "machine tpu_v2_8 has 8 cores", "must be a multiple of 8"}},
        {"registers of several cores",
         "run docs/micro_benchmarks/weight_switch.asm --machine tpu_v2_8 --registers 0-9",
         {"registers: "}},
        {"buffers, but which", bare + "--show buffers", {"--show buffers", "--print BUFFER"}},
        {"an array of another size",
         "run mnist_cnn --limit 2 --set machine.matrix_unit.rows=128 --program " + program,
         {"right.tpu", "256 x 256", "128 x 256"}},
    });
}
