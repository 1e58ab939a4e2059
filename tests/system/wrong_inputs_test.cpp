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
        {"against no name", both + " --text --against ''", {"--against is \"\"", "from 1 to 2"}},
        {"against a misspelt name", both + " --text --against bsae", {"bsae", "\"base\""}},
        {"CSV of no report", "report --csv", {"REPORT"}},
        {"CSV of a missing report", both + "er --csv", {"faster", "cannot be opened"}},
        {"all layers as JSON", network + "--all --json", {"--all", "--json"}},
        {"all layers, silently", network + "--quiet --all", {"--all", "--quiet"}},
        {"all explanations as JSON", "explain mnist_cnn --all --json", {"--all", "--json"}},
        {"watts of no array", network + "--set machine.power.array_rows=-1", {"power.array_rows", "-1"}},
        {"watts at no clock", network + "--set machine.power.clock_mhz=slow", {"power.clock_mhz", "slow"}},
    });
}
