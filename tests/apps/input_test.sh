#!/bin/bash
# What heed takes for a row and what it refuses: formats by name and by --format, byte order marks, blank lines, broken
# rows, fields that are carried along, gzip, several files, pipes.
# usage: input_test.sh <heed program> <make_model program>
set -euo pipefail

heed=$1 make_model=$2
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
cd "$folder"
"$make_model" model none
"$make_model" answer answer
"$make_model" classify classify good bad

run embed --model model "the fox" "in berlin"
expect '[[ $status == 0 ]]'
both=$output first=$(head -1 <<< "$output") second=$(tail -1 <<< "$output")

# The name decides, not the first character. A byte order mark is no part of the first row.
printf '\xef\xbb\xbf{"text": "the fox"}\r\n{"text": "in berlin"}\r\n' > mark.jsonl
run embed --model model --input mark.jsonl
expect '[[ $status == 0 && $output == "$both" ]]'
printf '\xef\xbb\xbf{"text": "the fox"}\n' > mark
run embed --model model --input mark
expect '[[ $status == 0 && $output == "$first" ]]'
printf '{"text": "the fox"\n{"text": "in berlin"}\n' > broken.jsonl
run embed --model model --input broken.jsonl
expect '[[ $status == 5 && -z $output ]] && grep -q "broken.jsonl:1" stderr'
printf '{"text": "the fox"}\nin berlin\n' > broken.jsonl
run embed --model model --input broken.jsonl
expect '[[ $status == 5 && -z $output ]] && grep -q "broken.jsonl:2.*one JSON object per line" stderr'
printf '{the fox}\nin berlin\n' > braces.txt
run embed --model model --input braces.txt
expect '[[ $status == 0 && $(tail -1 <<< "$output") == "$second" ]]'
run embed --model model --input - < braces.txt
expect '[[ $status == 5 ]] && grep -q "standard input:1.*add --format lines" stderr'
run embed --model model --input - --format lines < braces.txt
expect '[[ $status == 0 && $(tail -1 <<< "$output") == "$second" ]]'
run embed --model model --input - < mark.jsonl
expect '[[ $status == 0 && $output == "$both" ]]'
run embed --model model --input mark.jsonl --format words
expect '[[ $status == 2 ]]'
# The name in capitals too.
printf 'text\n"the fox"\nin berlin\n' > TABLE.CSV
gzip < TABLE.CSV > TABLE.Csv.GZ
cp mark.jsonl mark.ndjson
for file in TABLE.CSV TABLE.Csv.GZ mark.ndjson; do
    run embed --model model --input $file
    expect '[[ $status == 0 && $output == "$both" ]]'
done
# What is guessed goes by the first character that is not blank; a JSON list is neither one nor the other.
printf '\n \t{"text": "the fox"}\n{"text": "in berlin"}\n' > indented
for input in indented -; do
    run embed --model model --input $input < indented
    expect '[[ $status == 0 && $output == "$both" ]]'
done
for list in '[{"text": "the fox"},' ' [ {"text": "the fox"}]' '['; do
    run embed --model model --input - <<< "$list"
    expect '[[ $status == 5 && -z $output ]] && grep -q "input:1: .*one object per line.*--format lines" stderr'
    run embed --model model --input - --format lines <<< "$list"
    expect '[[ $status == 0 && -n $output ]]'
done
run embed --model model --input - <<< "[the fox]"
expect '[[ $status == 0 && -n $output ]]'

# The name of a file is a text too, but hardly the one that was meant.
printf 'the fox\n' > known.txt
for given in known.txt mark.jsonl TABLE.Csv.GZ; do
    run embed --model model "the fox" "$given"
    expect '[[ $status == 0 && $(wc -l <<< "$output") == 2 ]] && grep -q "^heed: $given is a file.*; for its rows: --input $given$" stderr'
    expect '[[ $(wc -l < stderr) == 1 ]]'
    run embed --model model "$given" --quiet
    expect '[[ $status == 0 && ! -s stderr ]]'
done
run tokenize --model model known.txt
expect '[[ $status == 0 ]] && grep -q "^heed: known.txt is a file" stderr'
run classify --model classify --pair "the fox" known.txt
expect '[[ $status == 0 ]] && grep -q "^heed: known.txt is a file" stderr'
for given in absent.csv mark "$folder" "the fox in known.txt"; do
    run embed --model model "$given"
    expect '[[ $status == 0 && ! -s stderr ]]'
done

# Tables: columns by the header, quotes as they should be.
printf 'text\n"the fox"\nin berlin\n' > table.csv
run embed --model model --input table.csv
expect '[[ $status == 0 && $output == "$both" ]]'
run embed --model model --input - --format csv < table.csv
expect '[[ $status == 0 && $output == "$both" ]]'
printf 'context\tquestion\nThe fox lives in Berlin.\tWhere?\n' > table.tsv
run answer --model answer --question "Where?" "The fox lives in Berlin."
answer=$output
run answer --model answer --input table.tsv
expect '[[ $status == 0 && $output == "$answer" ]]'
printf 'text,id\nthe fox\n' > broken.csv
run embed --model model --input broken.csv
expect '[[ $status == 5 ]] && grep -q "broken.csv:2: has 1 columns, expected 2" stderr'
printf 'words\nthe fox\n' > other.csv
run embed --model model --input other.csv
expect '[[ $status == 3 ]] && grep -q "other.csv: has no column \"text\" among its 1: words; set --text" stderr'
printf '{"words": "the fox"}\n' > other.jsonl
run embed --model model --input other.jsonl
expect '[[ $status == 5 ]] && grep -q "other.jsonl:1: text is missing (texts to embed); there is words" stderr'

# Columns of other names, by name and by number, with another separator, without a header; the rest is carried along.
printf 'id;text;review\n7;old;the fox\n8;old;"in; berlin"\n' > columns.csv
run embed --model model "the fox" "in; berlin"
columns=$output
for column in review 2; do
    run embed --model model --input columns.csv --separator ';' --text $column
    expect '[[ $status == 0 && $(head -1 <<< "$output") == "{\"id\":\"7\",\"text\":\"old\",\"result\":$first}" ]]'
    expect '[[ $(tail -1 <<< "$output") == "{\"id\":\"8\",\"text\":\"old\",\"result\":$(tail -1 <<< "$columns")}" ]]'
done
printf 'the fox;7\nin berlin;8\n' > bare.csv
run embed --model model --input bare.csv --separator ';' --no-header
expect '[[ $status == 0 && $output == "{\"1\":\"7\",\"result\":$first}"$'\''\n'\''"{\"1\":\"8\",\"result\":$second}" ]]'
run embed --model model --input - --format csv --separator ';' --no-header --text 0 < bare.csv
expect '[[ $status == 0 && $(head -1 <<< "$output") == "{\"1\":\"7\",\"result\":$first}" ]]'
printf '{"review": "the fox", "text": "old"}\n{"text": "old"}\n' > columns.jsonl
run embed --model model --input columns.jsonl --text review --output columns.npy
expect '[[ $status == 5 ]] && grep -q "columns.jsonl:2: has no field \"review\"; there is text" stderr'
run embed --model model --input - --text review < <(head -1 columns.jsonl)
expect '[[ $status == 0 && $output == "{\"text\":\"old\",\"result\":$first}" ]]'
run classify --model classify --pair "in berlin" "the fox"
pair=$output
printf 'a\tb\nthe fox\tin berlin\n' > pairs.tsv
run classify --model classify --input pairs.tsv --text a --pair b
expect '[[ $status == 0 && $output == "$pair" ]]'
run classify --model classify --input - --pair "in berlin" <<< "the fox"
expect '[[ $status == 0 && $output == "$pair" ]]'
printf 'wo\twas\nThe fox lives in Berlin.\tWhere?\n' > asked.tsv
run answer --model answer --input asked.tsv --text was --pair wo
expect '[[ $status == 0 && $output == "$answer" ]]'
run answer --model answer --input asked.tsv --question "Where?" --pair 0
expect '[[ $status == 0 && $output == "{\"was\":\"Where?\",\"result\":$answer}" ]]'
run tokenize --model model "the fox" --pair "in berlin"
pair=$output
run tokenize --model model --input pairs.tsv --text a --pair 1
expect '[[ $status == 0 && $output == "$pair" ]]'
# What does not fit says what to do.
for verb in "embed --model model" "classify --model classify" "tokenize --model model"; do
    run $verb --input bare.csv
    expect '[[ $status == 3 ]] && grep -q "bare.csv: has no column \"text\" among its 1: the fox;7; .*--separator" stderr'
done
run embed --model model --input columns.csv --separator ';' --text reviews
expect '[[ $status == 3 ]] && grep -q "no column \"reviews\" among its 3: id, text, review; set --text" stderr'
run embed --model model --input braces.txt --text review
expect '[[ $status == 3 ]] && grep -q "braces.txt: --text names a column, and plain lines have none" stderr'
run embed --model model --text review "the fox"
expect '[[ $status == 2 ]]'
run embed --model model --input bare.csv --separator ';;'
expect '[[ $status == 3 ]] && grep -q "expected one character" stderr'

# Fields that are no part of the question come back beside the answer.
printf '{"text": "the fox", "id": 7, "tags": ["a", null]}\n{"text": "in berlin"}\n' > ids.jsonl
run embed --model model --input ids.jsonl
expect '[[ $status == 0 && $output == "{\"id\":7,\"tags\":[\"a\",null],\"result\":$first}"$'\''\n'\''"$second" ]]'
printf 'id,text\n"a, b",the fox\n' > ids.csv
run embed --model model --input ids.csv
expect '[[ $status == 0 && $output == "{\"id\":\"a, b\",\"result\":$first}" ]]'
printf '{"text": "the fox", "result": 7}\n' > taken.jsonl
run embed --model model --input taken.jsonl
expect '[[ $status == 5 ]] && grep -q "taken.jsonl:1.*\"result\"" stderr'
run tokenize --model model --input ids.jsonl
expect '[[ $status == 0 && $output == "{\"id\":7,\"tags\":[\"a\",null],\"result\":{\"ids\":["* ]]'

# Blank lines are passed over whatever the format, and counted.
printf '\nthe fox\n  \n\nin berlin\n' > blank.txt
printf '\n{"text": "the fox"}\n  \n\n{"text": "in berlin"}\n' > blank.jsonl
printf '\ntext\nthe fox\n  \n\nin berlin\n' > blank.csv
for file in blank.txt blank.jsonl blank.csv; do
    run embed --model model --input $file
    expect '[[ $status == 0 && $output == "$both" ]] && grep -q "3 blank lines were skipped" stderr'
    run embed --model model --input $file --quiet
    expect '[[ $status == 0 && $output == "$both" && ! -s stderr ]]'
done

# Several files, packed or not; what is damaged is refused.
printf 'the fox\n' > a.txt
printf 'in berlin\n' | gzip > b.txt.gz
run embed --model model --input a.txt --input b.txt.gz
expect '[[ $status == 0 && $output == "$both" ]]'
gzip < table.csv > table.csv.gz
run embed --model model --input table.csv.gz
expect '[[ $status == 0 && $output == "$both" ]]'
head -c 20 table.csv.gz > cut.csv.gz
run embed --model model --input cut.csv.gz
expect '[[ $status == 5 ]] && grep -q "cut.csv.gz: .*not complete" stderr'
run embed --model model --input a.txt --input missing.txt
expect '[[ $status == 4 ]] && grep -q missing.txt stderr'
run embed --model model --input <(cat a.txt; echo in berlin)
expect '[[ $status == 0 && $output == "$both" ]]'
run embed --model model --input "$folder"
expect '[[ $status == 6 ]] && grep -q "is a folder" stderr'
# Data with right answers too.
printf 'text,label\nthe fox,good\n' | gzip > data.csv.gz
run eval --model classify --data data.csv.gz
expect '[[ $status == 0 && $output == *accuracy* ]]'

# Answers come as their texts do, also of tables, whose rows may have several lines.
stream() {  # FORMAT, then the lines before the first text, the first text, and the second
    rm -f texts answers
    mkfifo texts
    "$heed" embed --model model --input - --format "$1" < texts > answers 2> stderr & pid=$!
    exec 3> texts
    printf "$2$3" >&3
    for i in {1..100}; do [[ -s answers ]] && break; sleep 0.1; done
    expect '[[ $(cat answers) == "$first" ]]'
    printf "$4" >&3
    exec 3>&-
    status=0; wait $pid || status=$?
    expect '[[ $status == 0 && $(cat answers) == "$both" ]]'
}
stream lines "" "the fox\n" "in berlin\n"
stream jsonl "" '{"text": "the fox"}\n' '{"text": "in berlin"}\n'
stream csv "\xef\xbb\xbf\n\"text\"\r\n" '"the\n fox"\n"in\n' 'berlin"'
stream tsv 'text\n\n' 'the fox\n' 'in berlin'
# Line numbers are those of the stream; a quote that never closes is no endless row.
run embed --model model --input - --format csv < <(printf '\ntext\n"the\nfox"\n\na,b\n')
expect '[[ $status == 5 ]] && grep -q "standard input:6: has 2 columns, expected 1" stderr'
run embed --model model --input - --format csv < <(printf 'text\nthe fox\n"in\nberlin\n')
expect '[[ $status == 5 ]] && grep -q "standard input:3: a quote opens a field here" stderr'
run embed --model model --input - --format csv < /dev/null
expect '[[ $status == 0 && -z $output ]]'
