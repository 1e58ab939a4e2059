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
        {"an empty folder of results", run + "--out ''", {"--out", "empty", "folder"}},
        {"an empty page", "report " + reported + " --out ''", {"--out", "empty", "file"}},
        {"an empty report", "report ''", {"REPORT", "empty"}},
        {"an empty program", compile + "''", {"--output", "empty"}},
        {"an empty assembled program", "asm " + assembly + " -o ''", {"--output", "empty"}},
        {"an empty text", "disasm " + program + " -o ''", {"--output", "empty"}},
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
