# Sourced by scripts that drive pages in a browser; they give $here (this folder), $work (a folder of theirs) and skip.
# Leaves the browser in $browser and NODE_PATH set.
browser=$(command -v chromium || true)
[[ -n $browser ]] || skip "there is no chromium (tools/install_packages.sh web)"
if [[ ! -d $work/node_modules/puppeteer-core ]]; then
    command -v npm > /dev/null || skip "there is no npm to install puppeteer-core with"
    cp "$here/package.json" "$work/"
    if ! (cd "$work" && npm install --ignore-scripts --no-audit --no-fund --fetch-retries 1 --fetch-timeout 60000 > npm.log 2>&1); then
        tail -n 5 "$work/npm.log"
        skip "npm could not install puppeteer-core"
    fi
fi
export NODE_PATH=$work/node_modules
