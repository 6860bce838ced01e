#!/usr/bin/env bash
# Fills FOLDER with what a Docker Space of Hugging Face holds: .deploy/space.sh FOLDER
# Then: hf upload OWNER/NAME FOLDER . --repo-type space
set -euo pipefail
folder=${1:?name a folder to fill}
cd "$(dirname "$0")/.."
mkdir -p "$folder"
[ -z "$(ls -A "$folder")" ] || { echo "$folder is not empty" >&2; exit 1; }
git archive HEAD app.py attnviz models .streamlit requirements.txt pyproject.toml LICENSE README.md | tar -x -C "$folder"
# A Space is reached by a name of its own, and shown in a frame of Hugging Face's site.
sed 's,^ENV ATTNVIZ_HOSTS=$,ENV ATTNVIZ_HOSTS=*.hf.space ATTNVIZ_FRAME_ANCESTORS=https://huggingface.co,' \
    .deploy/Dockerfile > "$folder/Dockerfile"
cp .deploy/Dockerfile.dockerignore "$folder/.dockerignore"
# A Space shows its page within another site's, where browsers keep cookies back: uploads, which are compared with one,
# would all be refused (403).
sed -i.before 's/^enableXsrfProtection = true$/enableXsrfProtection = false/' "$folder/.streamlit/config.toml"
rm "$folder/.streamlit/config.toml.before"
# A Space reads how it is run from the head of its README.
{
    printf -- '---\ntitle: attnviz\nsdk: docker\napp_port: 8501\nlicense: mit\n---\n\n'
    cat README.md
} > "$folder/README.new"
mv "$folder/README.new" "$folder/README.md"
echo "$folder is filled. Next: hf upload OWNER/NAME $folder . --repo-type space"
