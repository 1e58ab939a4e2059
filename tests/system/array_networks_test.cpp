// Networks of arrays, as HLO programs are: any number format in and out, and every way to give arrays.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/system/input_files.h"
#include "tests/system/sim_process.h"
#include "tests/system/written_array.h"
#include "tests/unit/base/zip/made_zip.h"

using namespace systole::tests;
using Json = nlohmann::ordered_json;

namespace {

/// w is moved by b where the mask says so; the mask is inverted; integers are doubled.
constexpr const char* step =
    "graph \"step\"\n"
    "inputs %0, %1, %2, %3, %4, %5\n"
    "outputs %7, %8, %9, %10, %11, %12\n"
    "%0 float32 1x2x3 \"state['w']\"\n"
    "%1 int32 1x2x3 \"mask\" file bool\n"
    "%2 bfloat16 1x1x3 \"b\"\n"
    "%3 int32 1x3 \"n\" file int8\n"
    "%4 int32 1x3 \"u\" file uint32\n"
    "%5 float32 1x3 \"h\" file float16\n"
    "%6 int32 1x1 \"one\" = [1]\n"
    "%7 float32 1x2x3 \"state['w']\"\n"
    "%8 int32 1x2x3 \"out/mask\" file bool\n"
    "%9 bfloat16 1x1x3 \"b\"\n"
    "%10 int32 1x3 \"n\" file int8\n"
    "%11 int32 1x3 \"u\" file uint32\n"
    "%12 float32 1x3 \"h\" file float16\n"
    "%7 = word_chain(%0, %1, %2) \"w\" {steps [\"add 0 2\", \"select 1 3 0\"]}\n"
    "%8 = word_chain(%1) \"mask\" {steps [\"constant 0x1\", \"xor 0 1\"]}\n"
    "%9 = word_chain(%2) \"b\" {steps [\"add 0 0\"]}\n"
    "%10 = word_chain(%3, %6) \"n\" {steps [\"shift_left 0 1\"]}\n"
    "%11 = word_chain(%4, %6) \"u\" {steps [\"shift_right 0 1\"]}\n"
    "%12 = word_chain(%5) \"h\" {steps [\"add 0 0\"]}\n";

template <typename Number>
std::string bytes_of(const std::vector<Number>& numbers) {
    std::string bytes;
    for (const Number number : numbers) bytes += repeated(number, 1);
    return bytes;
}

using Written = WrittenArray;

Written read(const std::filesystem::path& path) {
    return written_array(path);
}

/// The network, and files for its inputs by name.
class Step {
public:
    Step() {
        add("state['w']", npy("<f4", "(2, 3)", bytes_of<float>({1, 2, 3, 4, 5, 6})));
        add("mask", npy("|b1", "(2, 3)", {1, 0, 1, 0, 0, 1}));
        add("b", npy("<V2", "(1, 3)", bytes_of<std::uint16_t>({0x3F00, 0x4000, 0xC040})));  // 0.5, 2, -3
        add("n", npy("|i1", "(3,)", bytes_of<std::int8_t>({-3, 0, 100})));
        add("u", npy("<u4", "(3,)", bytes_of<std::uint32_t>({0xFFFFFFFF, 2, 7})));
        add("h", npy("<f2", "(3,)", bytes_of<std::uint16_t>({0x3C00, 0xBE00, 0x7BFF})));  // 1, -1.5, 65504
    }

    void add(const std::string& name, const std::string& file) { files_[name] = file; }
    void remove(const std::string& name) { files_.erase(name); }

    /// An .npz file of all inputs.
    std::string archive() const {
        std::vector<PackedEntry> entries;
        for (const auto& [name, file] : files_) entries.push_back({name + ".npy", file});
        return folder_.file("inputs.npz", packed_zip(entries));
    }
    std::string file_of(const std::string& name) const {
        return folder_.file(name + ".npy", files_.at(name));
    }

    std::string run(const std::string& what = step) const {
        return "run --machine tpu_v2_1core --model " + folder_.file("step.txt", what) + " ";
    }
    /// The output files of a run that must succeed.
    std::map<std::string, Written> outputs_of(const std::string& arguments) const {
        const std::filesystem::path out = folder_ / "out";
        std::filesystem::remove_all(out);
        const Outcome outcome = sim(arguments + " --quiet --outputs " + out.string());
        INFO(arguments << "\n" << outcome.err);
        REQUIRE(outcome.exit_code == 0);
        CHECK(outcome.err.empty());
        std::map<std::string, Written> files;
        for (const auto& entry : std::filesystem::directory_iterator(out))
            files.emplace(entry.path().filename(), read(entry.path()));
        return files;
    }
    const Folder& folder() const { return folder_; }

    static std::map<std::string, Written> expected() {
        return {{"state__w__.npy", {"<f4", "2, 3", bytes_of<float>({1.5F, 2, 0, 4, 5, 3})}},
                {"out_mask.npy", {"|b1", "2, 3", {0, 1, 0, 1, 1, 0}}},
                {"b.npy", {"<f4", "1, 3", bytes_of<float>({1, 4, -6})}},
                {"n.npy", {"|i1", "3,", bytes_of<std::int8_t>({-6, 0, -56})}},
                {"u.npy", {"<u4", "3,", bytes_of<std::uint32_t>({0x7FFFFFFF, 1, 3})}},
                // Twice the largest float16 is beyond all of them.
                {"h.npy", {"<f2", "3,", bytes_of<std::uint16_t>({0x4000, 0xC200, 0x7C00})}}};
    }

private:
    Folder folder_;
    std::map<std::string, std::string> files_;
};

/// The line that a run ends with which must fail.
std::string refused(const std::string& arguments) {
    const Outcome outcome = sim(arguments);
    INFO(arguments << "\n" << outcome.out << outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK_THAT(outcome.err, Catch::StartsWith("sim: "));
    return outcome.err;
}

}  // namespace

TEST_CASE("Arrays of every number format go in and come out as they are", "[system][array_networks]") {
    const Step files;
    const auto outputs = files.outputs_of(files.run() + "--input " + files.archive());
    for (const auto& [name, file] : Step::expected()) {
        INFO(name);
        REQUIRE(outputs.contains(name));
        CHECK(outputs.at(name) == file);
    }
    CHECK(outputs.size() == 6);
}

TEST_CASE("Arrays are given by name, by position, in archives and each alone", "[system][array_networks]") {
    Step files;
    const std::string names = files.run() + "--input \"state['w']=" + files.file_of("state['w']") +
                              "\" \"mask=" + files.file_of("mask") + "\" 2=" + files.file_of("b") +
                              " n=" + files.file_of("n") + " 4=" + files.file_of("u") +
                              " h=" + files.file_of("h");
    CHECK(files.outputs_of(names) == Step::expected());
    const std::string own = files.file_of("n");
    files.remove("n");
    CHECK(files.outputs_of(files.run() + "--input " + files.archive() + " n=" + own) == Step::expected());
}

TEST_CASE("Numbers keep their values, whatever their format in the file", "[system][array_networks]") {
    Step files;
    files.add("state['w']", npy("<i8", "(2, 3)", bytes_of<std::int64_t>({1, 2, 3, 4, 5, 6})));
    files.add("mask", npy("<f8", "(2, 3)", bytes_of<double>({1, 0, 1, 0, 0, 1})));
    files.add("b", npy("<u2", "(1, 3)", bytes_of<std::uint16_t>({0x3F00, 0x4000, 0xC040})));
    files.add("n", npy("<f4", "(3,)", bytes_of<float>({-3, 0, 100})));
    files.add("u", npy("<u8", "(3,)", bytes_of<std::uint64_t>({0xFFFFFFFF, 2, 7})));
    files.add("h", npy("<f8", "(3,)", bytes_of<double>({1, -1.5, 65504})));
    CHECK(files.outputs_of(files.run() + "--input " + files.archive()) == Step::expected());
}

TEST_CASE("uint8 are numbers and no pixels for an input of float32", "[system][array_networks]") {
    Step files;
    files.add("state['w']", npy("|u1", "(2, 3)", bytes_of<std::uint8_t>({1, 2, 3, 4, 5, 6})));
    CHECK(files.outputs_of(files.run() + "--input " + files.archive()) == Step::expected());
}

TEST_CASE("A compiled program takes and gives the same arrays", "[system][array_networks]") {
    const Step files;
    const std::string program = (files.folder() / "step.tpu").string();
    const std::string model = files.folder().file("step.txt", step);
    const Outcome compiled = sim("compile --machine tpu_v2_1core --quiet --model " + model + " --input " +
                                 files.archive() + " -o " + program);
    INFO(compiled.err);
    REQUIRE(compiled.exit_code == 0);
    CHECK(files.outputs_of("run --machine tpu_v2_1core --program " + program + " --input " +
                           files.archive()) == Step::expected());
}

TEST_CASE("A compiled program of float32 takes arrays, and no images", "[system][array_networks]") {
    const Folder folder;
    const std::string model =
        folder.file("twice.txt",
                    "graph \"twice\"\ninputs %0\noutputs %1\n"
                    "%0 float32 1x3 \"x\" file float32\n%1 float32 1x3 \"y\" file float32\n"
                    "%1 = word_chain(%0) \"y\" {steps [\"add 0 0\"]}\n");
    const std::string program = (folder / "twice.tpu").string();
    REQUIRE(sim("compile --machine tpu_v2_1core --quiet --model " + model + " -o " + program).exit_code == 0);
    const std::string text = folder.file("twice.asm", sim("disasm " + program).out);
    const auto y_of = [&](const std::string& given, const std::string& x) {
        const Outcome outcome = sim("run --machine tpu_v2_1core --quiet --program " + given + " --input " +
                                    x + " --outputs " + folder.path().string());
        INFO(outcome.err);
        REQUIRE(outcome.exit_code == 0);
        CHECK(outcome.err.empty());
        return read(folder / "y.npy");
    };
    const float infinity = std::numeric_limits<float>::infinity();
    const std::string bytes = npy("|u1", "(3,)", {1, 2, 100});
    for (const std::string& given : {program, text}) {
        CHECK(y_of(given, folder.file("x.npy", bytes)) == Written{"<f4", "3,", bytes_of<float>({2, 4, 200})});
        CHECK(y_of(given, folder.file("x.npz", packed_zip({{"arr_0.npy", bytes}}))) ==
              Written{"<f4", "3,", bytes_of<float>({2, 4, 200})});
        CHECK(y_of(given, folder.file("x.npy", npy("<f4", "(3,)", bytes_of<float>({infinity, 1, 2})))) ==
              Written{"<f4", "3,", bytes_of<float>({infinity, 2, 4})});
    }
}

TEST_CASE("Several inferences are the first axis of inputs and outputs", "[system][array_networks]") {
    const Folder folder;
    const std::string model = folder.file("twice.txt",
                                          "graph \"twice\"\ninputs %0\noutputs %1\n"
                                          "%0 int32 1x2 \"x\" file uint8\n%1 int32 1x2 \"y\" file uint8\n"
                                          "%1 = word_chain(%0) \"y\" {steps [\"add_int 0 0\"]}\n");
    const std::string x = folder.file("x.npy", npy("|u1", "(3, 2)", {1, 2, 3, 4, 5, 6}));
    const std::string run = "run --quiet --machine tpu_v2_1core --model " + model + " --input " + x +
                            " --outputs " + folder.path().string() + " ";
    for (const char* const batch : {"", "--batch 2", "--batch 3"}) {
        INFO(batch);
        REQUIRE(sim(run + batch).exit_code == 0);
        CHECK(read(folder / "y.npy") == Written{"|u1", "3, 2", {2, 4, 6, 8, 10, 12}});
    }
    REQUIRE(sim(run + "--limit 1").exit_code == 0);
    CHECK(read(folder / "y.npy") == Written{"|u1", "2,", {2, 4}});
    REQUIRE(sim(run + "--limit 2").exit_code == 0);
    CHECK(read(folder / "y.npy") == Written{"|u1", "2, 2", {2, 4, 6, 8}});
}

namespace {

/// What a step adds to a state; "seen" is the state before it.
std::string adding(const std::string& replicas = "", const std::string& split = "") {
    const auto value = [&](int number, const std::string& name) {
        return "%" + std::to_string(number) + " int32 1x2 \"" + name + "\"" + split + "\n";
    };
    return "graph \"adding\"\n" + replicas + "inputs %0, %1\noutputs %2, %3\nstate %1 -> %3\n" +
           value(0, "x") + value(1, "total") + value(2, "seen") + value(3, "total") +
           "%2 = word_chain(%1) \"seen\" {steps [\"constant 0x0\", \"add_int 0 1\"]}\n"
           "%3 = word_chain(%0, %1) \"total\" {steps [\"add_int 0 1\"]}\n";
}

std::string bytes_of_ints(const std::vector<std::int32_t>& numbers) {
    return bytes_of(numbers);
}

}  // namespace

TEST_CASE("State goes from step to step, and comes out once", "[system][array_networks]") {
    const Folder folder;
    const std::string model = folder.file("adding.txt", adding());
    const std::string total = " total=" + folder.file("total.npy", npy("|i1", "(2,)", {10, 20}));
    const std::string of_one = folder.file("one.npy", npy("|i1", "(2,)", {1, 2}));
    const std::string of_three = folder.file("three.npy", npy("|i1", "(3, 2)", {1, 2, 3, 4, 5, 6}));
    const std::string out = " --outputs " + (folder / "out").string();
    const auto run = [&](const std::string& arguments) {
        const Outcome outcome = sim("run --quiet --machine tpu_v2_1core " + arguments + out);
        INFO(arguments << "\n" << outcome.err);
        REQUIRE(outcome.exit_code == 0);
        return std::pair{read(folder / "out/seen.npy"), read(folder / "out/total.npy")};
    };
    const std::string with_model = "--model " + model + " --input x=";
    const auto once = run(with_model + of_one + total);
    CHECK(once.first == Written{"<i4", "2,", bytes_of_ints({10, 20})});
    CHECK(once.second == Written{"<i4", "2,", bytes_of_ints({11, 22})});
    const auto thrice = run(with_model + of_three + total);
    CHECK(thrice.first == Written{"<i4", "3, 2", bytes_of_ints({10, 20, 11, 22, 14, 26})});
    CHECK(thrice.second == Written{"<i4", "2,", bytes_of_ints({19, 32})});
    const auto twice = run(with_model + of_three + total + " --limit 2");
    CHECK(twice.first == Written{"<i4", "2, 2", bytes_of_ints({10, 20, 11, 22})});
    CHECK(twice.second == Written{"<i4", "2,", bytes_of_ints({14, 26})});
    // A compiled program has the same steps, in a file and as text.
    const std::string program = (folder / "adding.tpu").string();
    REQUIRE(sim("compile --quiet --machine tpu_v2_1core --model " + model + " --input x=" + of_three + total +
                " -o " + program)
                .exit_code == 0);
    CHECK(run("--program " + program + " --input x=" + of_three + total) == thrice);
    const std::string text = folder.file("adding.asm", sim("disasm " + program).out);
    CHECK(run("--program " + text + " --input x=" + of_three + total) == thrice);
    CHECK_THAT(refused("run --machine tpu_v2_1core --program " + program + " --input x=" + of_one + total),
               Catch::Contains("the program was made for 3 inferences; " + of_one + " has 1"));
}

TEST_CASE("Each replica has its part of state, or all of it", "[system][array_networks]") {
    const Folder folder;
    std::string totals;
    std::string numbers;
    std::vector<std::int32_t> sums;
    for (char i = 0; i < 16; ++i) {
        totals += i;
        numbers += static_cast<char>(2 * i);
        sums.push_back(i + 2 * i + i);
    }
    for (char i = 0; i < 16; ++i) numbers += i;
    const auto arguments = [&](const std::string& model, const std::string& total, const std::string& x) {
        return "run --quiet --machine tpu_v2_8 --model " + folder.file("adding.txt", model) +
               " --input total=" + folder.file("total.npy", total) + " x=" + folder.file("x.npy", x) +
               " --outputs " + folder.path().string();
    };
    const std::string split = arguments(adding("replicas 8\n", " split 0"), npy("|i1", "(16,)", totals),
                                        npy("|i1", "(2, 16)", numbers));
    const Outcome outcome = sim(split);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    CHECK(read(folder / "total.npy") == Written{"<i4", "16,", bytes_of_ints(sums)});
    CHECK(read(folder / "seen.npy").shape == "2, 16");
    CHECK(sim(split + " --batch 8").exit_code == 0);
    CHECK_THAT(refused(split + " --batch 16"), Catch::Contains("batch is 16"));
    const std::string whole = arguments(adding("replicas 8\n"), npy("|i1", "(2,)", {1, 2}),
                                        npy("|i1", "(3, 2)", {1, 2, 3, 4, 5, 6}));
    REQUIRE(sim(whole).exit_code == 0);
    CHECK(read(folder / "total.npy") == Written{"<i4", "2,", bytes_of_ints({10, 14})});
    CHECK(read(folder / "seen.npy") == Written{"<i4", "3, 2", bytes_of_ints({1, 2, 2, 4, 5, 8})});
}

TEST_CASE("State alone goes in", "[system][array_networks]") {
    const Folder folder;
    const std::string model = folder.file("doubling.txt",
                                          "graph \"doubling\"\ninputs %0\noutputs %1\nstate %0 -> %1\n"
                                          "%0 float32 1x2 \"s\"\n%1 float32 1x2 \"t\"\n"
                                          "%1 = add(%0, %0) \"t\"\n");
    const std::string s = folder.file("s.npy", npy("|i1", "(2,)", {1, 3}));
    const std::string run = "run --quiet --machine tpu_v2_1core --model " + model + " --input " + s +
                            " --outputs " + folder.path().string() + " ";
    REQUIRE(sim(run).exit_code == 0);
    CHECK(read(folder / "t.npy") == Written{"<f4", "2,", bytes_of<float>({2, 6})});
    REQUIRE(sim(run + "--limit 5").exit_code == 0);
    CHECK(read(folder / "t.npy") == Written{"<f4", "2,", bytes_of<float>({32, 96})});
    const Json report = report_of("--machine tpu_v2_1core --model " + model + " --limit 5 --input " + s);
    CHECK(report.at("inferences") == 5);
    CHECK(report.at("predictions").empty());
    CHECK(report.at("cycles") ==
          report_of("--machine tpu_v2_1core --model " + model + " --limit 5 --timing-only").at("cycles"));
}

TEST_CASE("Wrong state is refused in one line", "[system][array_networks]") {
    const Folder folder;
    const std::string model = " --model " + folder.file("adding.txt", adding());
    const std::string x = folder.file("x.npy", npy("|i1", "(3, 2)", {1, 2, 3, 4, 5, 6}));
    const std::string inputs = model + " --input x=" + x + " total=" + x;
    CHECK(refused("run --machine tpu_v2_1core" + inputs) ==
          "sim: " + x + ": there are 3 inferences; input \"total\" is state, which goes in once, with 1\n");
    for (const char* const machine : {"tpu_v1", "edge_tpu_usb"}) {
        CHECK_THAT(refused("run --machine " + std::string(machine) + inputs),
                   Catch::Contains("an output replaces \"total\" in the next run, which only machines with "
                                   "tensor cores keep"));
        CHECK_THAT(refused("run --timing-only --machine " + std::string(machine) + model),
                   Catch::Contains("only machines with tensor cores keep"));
    }
    const std::string floats = " --model " + folder.file("doubling.txt",
                                                         "graph \"doubling\"\ninputs %0\noutputs %1\n"
                                                         "state %0 -> %1\n%0 float32 1x2 \"s\"\n"
                                                         "%1 float32 1x2 \"t\"\n%1 = add(%0, %0) \"t\"\n");
    CHECK_THAT(refused("run --float-reference --random-input 1 --machine tpu_v2_1core" + floats),
               Catch::Contains("float_reference is given; doubling has state"));
    const std::string labels = folder.file("labels.idx", std::string("\0\0\x08\x01\0\0\0\x01\0", 9));
    const std::string s = folder.file("s.npy", npy("|i1", "(2,)", {1, 2}));
    CHECK_THAT(refused("run --machine tpu_v2_1core" + floats + " --input " + s + " --labels " + labels),
               Catch::Contains("all inputs are state, and have no images with labels"));
}

TEST_CASE("Subnormal numbers and NaN of floats are settled, and integers stay", "[system][array_networks]") {
    const Folder folder;
    const std::string model = folder.file("same.txt",
                                          "graph \"same\"\ninputs %0, %1\noutputs %2, %3\n"
                                          "%0 float32 1x4 \"x\"\n%1 int32 1x4 \"n\"\n"
                                          "%2 float32 1x2x2 \"x\"\n%3 int32 1x2x2 \"n\"\n"
                                          "%2 = reshape(%0) \"x\" {shape [1, 2, 2]}\n"
                                          "%3 = reshape(%1) \"n\" {shape [1, 2, 2]}\n");
    const std::vector<std::uint32_t> bits{0x00000001, 0x80000005, 0xFFC00001, 0x7F800000};
    const std::string x = folder.file("x.npy", npy("<f4", "(4,)", bytes_of(bits)));
    const std::string n = folder.file("n.npy", npy("<i4", "(4,)", bytes_of(bits)));
    const Outcome outcome = sim("run --quiet --machine tpu_v2_1core --model " + model + " --input x=" + x +
                                " n=" + n + " --outputs " + folder.path().string() + "/out");
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    CHECK(read(folder / "out/x.npy").values ==
          bytes_of<std::uint32_t>({0, 0x80000000, 0x7FC00000, 0x7F800000}));
    CHECK(read(folder / "out/n.npy").values == bytes_of(bits));
}

TEST_CASE("Made-up arrays follow from their seed, and time does not depend on values",
          "[system][array_networks]") {
    const Step files;
    const auto first = files.outputs_of(files.run() + "--random-input 1");
    CHECK(files.outputs_of(files.run() + "--random-input 1") == first);
    CHECK(files.outputs_of(files.run() + "--random-input 2") != first);
    for (const char truth : first.at("out_mask.npy").values) CHECK((truth == 0 || truth == 1));
    const std::string model = "--machine tpu_v2_1core --model " + files.folder().file("step.txt", step);
    const Json random = report_of(model + " --random-input 1");
    const Json given = report_of(model + " --input " + files.archive());
    const Json timed = report_of(model + " --timing-only");
    const Json timed_with_files = report_of(model + " --timing-only --input " + files.archive());
    for (const char* const key : {"cycles", "traffic", "units", "inferences"}) {
        INFO(key);
        CHECK(random.at(key) == given.at(key));
        CHECK(timed.at(key) == given.at(key));
        CHECK(timed_with_files.at(key) == given.at(key));
    }
    CHECK(timed.count("first_outputs") == 0);
}

TEST_CASE("The report shows the first numbers of outputs, and no classes of integers",
          "[system][array_networks]") {
    const Step files;
    const std::string run = files.run() + "--input " + files.archive();
    const Json report = Json::parse(sim(run + " --json").out);
    CHECK(report.at("predictions").empty());  // two outputs are vectors of floats
    const Json& outputs = report.at("first_outputs");
    REQUIRE(outputs.size() == 6);
    CHECK(outputs[0] == Json{{"name", "state['w']"},
                             {"type", "float32"},
                             {"shape", {2, 3}},
                             {"first", {1.5, 2, 0, 4, 5, 3}}});
    CHECK(outputs[1].at("first") == Json{0, 1, 0, 1, 1, 0});
    CHECK(outputs[2].at("type") == "bfloat16");
    CHECK(outputs[4].at("first") == Json{2147483647, 1, 3});
    CHECK(outputs[5].at("first") == Json{2, -3, nullptr});
    const std::string text = sim(run + " --show summary").out;
    CHECK_THAT(text, Catch::Contains("\n  state['w']        float32 (2, 3)\n"
                                     "                    1.5, 2, 0, 4, 5, 3\n"));
    CHECK_THAT(text, Catch::Contains("2147483647, 1, 3\n") && Catch::Contains("2, -3, inf\n"));
    const std::string one = files.folder().file(
        "one.txt",
        "graph \"one\"\ninputs %0\noutputs %1, %2\n%0 float32 1x3 \"x\"\n%1 int32 1x3 \"i\"\n"
        "%2 float32 1x3 \"f\"\n%1 = word_chain(%0) \"i\" {steps [\"float_to_int 0\"]}\n"
        "%2 = word_chain(%0) \"f\" {steps [\"negate 0\"]}\n");
    const std::string x =
        files.folder().file("x.npy", npy("<f4", "(2, 3)", bytes_of<float>({3, 1, 2, 4, 6, 5})));
    const std::string classify = "--machine tpu_v2_1core --model " + one + " --input " + x;
    // Only who asks for classes gets them.
    CHECK(report_of(classify).at("predictions").empty());
    const std::string labels =
        files.folder().file("labels.idx", std::string("\0\0\x08\x01\0\0\0\x02\x01\x02", 10));
    const Json labelled = report_of(classify + " --labels " + labels);
    CHECK(labelled.at("predictions") == Json{1, 0});
    CHECK(labelled.at("accuracy") == 0.5);
    const std::string names = files.folder().file("names.txt", "a\nb\nc\n");
    CHECK(report_of(classify + " --label-names " + names).at("predictions") == Json{1, 0});
}

TEST_CASE("Wrong arrays are refused in one line with file, place, value and rule",
          "[system][array_networks]") {
    const auto with = [](const std::string& name, const std::string& file) {
        Step files;
        files.add(name, file);
        const std::string archive = files.archive();
        const std::string line = refused(files.run() + "--input " + archive);
        const std::string place = "sim: " + archive + ": array \"" + name + "\": ";
        REQUIRE(line.starts_with(place));
        return line.substr(place.size(), line.size() - place.size() - 1);
    };
    CHECK(with("n", npy("<i4", "(3,)", bytes_of<std::int32_t>({1, 2, 128}))) ==
          "element (2,) is 128; input \"n\" takes int8, whose numbers are whole, from -128 to 127");
    CHECK(with("u", npy("<i8", "(3,)", bytes_of<std::int64_t>({1, -2, 3}))) ==
          "element (1,) is -2; input \"u\" takes uint32, whose numbers are whole, from 0 to 4294967295");
    CHECK(with("mask", npy("|u1", "(2, 3)", {0, 1, 0, 0, 2, 0})) ==
          "element (1, 1) is 2; input \"mask\" takes bool, whose numbers are whole, from 0 to 1");
    CHECK(
        with("state['w']", npy("<f8", "(2, 3)", bytes_of<double>({0, 0, 0.1, 0, 0, 0}))) ==
        "element (0, 2) is 0.1; input \"state['w']\" takes float32, which does not hold this number exactly "
        "(NumPy's astype rounds)");
    CHECK_THAT(with("b", npy("<f4", "(1, 3)", bytes_of<float>({1, 2, 0.1F}))),
               Catch::StartsWith("element (0, 2) is 0.1; input \"b\" takes bfloat16"));
    CHECK_THAT(with("h", npy("<f4", "(3,)", bytes_of<float>({1, 2, 65520}))),
               Catch::StartsWith("element (2,) is 65520; input \"h\" takes float16"));
    CHECK(
        with("n", npy("|i1", "(1, 1, 3)", bytes_of<std::int8_t>({1, 2, 3}))) ==
        "the array's shape is (1, 1, 3); input \"n\" is (3,), with or without a number of inferences before "
        "it");
    CHECK_THAT(with("n", npy("<c8", "(3,)", std::string(24, '\0'))),
               Catch::StartsWith("element type is '<c8'; arrays have bool"));
}

TEST_CASE("What does not apply to arrays is refused in one line", "[system][array_networks]") {
    Step files;
    const std::string model = files.folder().file("step.txt", step);
    const std::string with_input = files.run() + "--input " + files.archive();
    for (const char* const option : {"--resize 2", "--crop 2", "--layout hwc", "--channels bgr",
                                     "--preset raw", "--mean 1", "--std 2", "--input-scale 1"}) {
        INFO(option);
        CHECK_THAT(
            refused(with_input + " " + option),
            Catch::Contains("step: its inputs are arrays, which are taken as they are; resize, crop,"));
    }
    CHECK_THAT(refused(with_input + " --float-reference"),
               Catch::Contains("float_reference is given; the operators of step state each bit"));
    CHECK_THAT(refused(with_input + " --float-outputs " + files.folder().path().string()),
               Catch::Contains("float_outputs is given; the operators of step state each bit"));
    CHECK_THAT(refused(with_input + " --show accuracy"), Catch::Contains("tpu_v2_1core computes in floats"));
    CHECK_THAT(refused(files.run() + "--input " + files.folder().file("i.idx", idx_images(1, 2, 3))),
               Catch::Contains("i.idx: the first bytes are not those of an NPY or NPZ file"));
    CHECK_THAT(refused("run --model " + model + " --machine tpu_v2_1core"), Catch::Contains("give --input"));
    CHECK_THAT(refused(files.run() + "--input 9=" + files.file_of("n")),
               Catch::Contains("9=" + files.file_of("n") +
                               ": step has no input of that name or position; there is \"state['w']\", "));
    files.remove("n");
    files.remove("h");
    CHECK_THAT(
        refused(files.run() + "--input " + files.archive()),
        Catch::Contains("step: 2 inputs have no array: \"n\", \"h\"; --input NAME=FILE or an .npz file "
                        "gives them"));
    for (const char* const machine : {"tpu_v1", "edge_tpu_usb"}) {
        for (const char* const data : {"--random-input 1", "--timing-only"}) {
            CHECK(refused("run --model " + model + " --machine " + machine + " " + data) ==
                  "sim: " + model + ": it is a program in words; only machines with tensor cores run it; " +
                      machine + " has none\n");
        }
    }
}
