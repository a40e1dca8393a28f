# What stands before the cursor: the command, the number of its arguments, and where its first one is.
function __urnic_read --no-scope-shadowing
    set -l words (commandline -opc)
    set -l is_value no
    set command ''
    set arguments 0
    set first 0
    for index in (seq 2 (count $words))
        set -l word $words[$index]
        if test $is_value = yes
            set is_value no
            continue
        end
        switch $word
            case --
                contains -- "$command" $__urnic_runs_program; and set first (math $index + 1); and return
            case '-*'
                contains -- "$command $word" $__urnic_valued; and set is_value yes
            case '*'
                if contains -- (string trim -- "$command $word") $__urnic_commands
                    set command (string trim -- "$command $word")
                else
                    set arguments (math $arguments + 1)
                    test $first = 0; and set first $index
                    contains -- "$command" $__urnic_runs_program; and return
                end
        end
    end
end

# __urnic_on COMMAND...: whether the cursor is in the words of one of the commands.
function __urnic_on
    set -l command
    set -l arguments
    set -l first
    __urnic_read
    contains -- "$command" $argv
    and not begin
        contains -- "$command" $__urnic_runs_program; and test $first != 0
    end
end

# __urnic_at NUMBER COMMAND...: whether the word at the cursor is the argument with that number; "2-": or one behind it.
function __urnic_at
    set -l command
    set -l arguments
    set -l first
    __urnic_read
    contains -- "$command" $argv[2..-1]; or return
    set -l number (string trim --right --chars=- -- $argv[1])
    test (math $arguments + 1) = $number
    or begin
        string match -q -- '*-' $argv[1]; and test (math $arguments + 1) -ge $number
    end
end

# Some of the words, with commas between them.
function __urnic_list
    set -l before (string match -r '^.*,' -- (commandline -ct))
    printf '%s\n' "$before"$argv
end

# Captures first, then other files.
function __urnic_captures
    __fish_complete_suffix .pcapng
    __fish_complete_suffix .pcap
end

# What completes the command line that urnic runs.
function __urnic_program
    set -l command
    set -l arguments
    set -l first
    __urnic_read
    set -l words (commandline -opc)
    set -l rest
    test $first != 0; and test $first -le (count $words); and set rest $words[$first..-1]
    complete -C "$rest "(commandline -ct)
end
