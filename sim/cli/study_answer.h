#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/cli/command.h"
#include "sim/cli/output_options.h"
#include "sim/study/sweep/answer.h"
#include "sim/study/sweep/database.h"

namespace systole::cli {

/// What is asked of the points of a study.
struct AnswerOptions {
    std::vector<std::string> show;
    std::string sort;
    std::size_t top = 20;
    std::vector<std::string> pivot;
    std::vector<std::string> pareto;
    std::string best;
    std::vector<std::string> subject_to;
    std::string csv;
    std::uint64_t report = 0;
};

void add_answer_options(CLI::App& command, AnswerOptions& options);

/// The page of a study whose results are in this file.
std::filesystem::path study_page_of(const std::filesystem::path& results);

/// Prints and writes what is asked.
class StudyAnswer {
public:
    StudyAnswer(const AnswerOptions& options, const OutputOptions& print, Context& context)
        : options_(options), print_(print), context_(context) {}

    /// Throws ConfigError for what cannot be answered of this study, before its points have run.
    void check(const sweep::Answer& without_rows, bool is_kept) const;
    /// `file`: of the results; empty if they are not kept. `page`: whether its page was written now.
    void tell(const sweep::Answer& answer, sweep::Database& database, const std::filesystem::path& file,
              bool page) const;

private:
    void tell_tables(const sweep::Answer& answer) const;
    void tell_best(const sweep::Answer& answer) const;
    void tell_end(const sweep::Answer& answer, const std::filesystem::path& file, bool page) const;
    void write_report(const sweep::Answer& answer, sweep::Database& database,
                      const std::filesystem::path& file) const;
    std::vector<sweep::Goal> goals(const sweep::Answer& answer) const;
    sweep::Pivot pivot(const sweep::Answer& answer) const;

    const AnswerOptions& options_;
    const OutputOptions& print_;
    Context& context_;
};

}  // namespace systole::cli
