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
expect '[[ $status == 5 ]] && grep -q "other.csv:2: text is missing (texts to embed); there is words" stderr'

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

# Answers come as their texts do.
mkfifo texts
"$heed" embed --model model --input - < texts > answers 2> stderr & pid=$!
exec 3> texts
echo "the fox" >&3
for i in {1..100}; do [[ -s answers ]] && break; sleep 0.1; done
expect '[[ $(cat answers) == "$first" ]]'
echo "in berlin" >&3
exec 3>&-
status=0; wait $pid || status=$?
expect '[[ $status == 0 && $(cat answers) == "$both" ]]'
