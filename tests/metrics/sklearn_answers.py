"""scikit-learn's and scipy's answers to the questions of metrics_test.cpp.

usage: sklearn_answers.py <questions.json> <answers.json>
Lists of equal length; a question has a "kind" and what its branch below reads.
"""
import json
import sys
import warnings

import numpy as np
from scipy import stats
from sklearn import metrics
from sklearn.preprocessing import MultiLabelBinarizer

warnings.simplefilter("ignore")


def answer(question):
    if question["kind"] == "labels":
        expected, found = question["expected"], question["found"]
        return {
            "text": metrics.classification_report(expected, found, digits=question["digits"]),
            "matrix": metrics.confusion_matrix(expected, found).tolist(),
            "accuracy": metrics.accuracy_score(expected, found),
            "matthews": metrics.matthews_corrcoef(expected, found),
        }
    if question["kind"] == "label sets":
        binarizer = MultiLabelBinarizer().fit(question["expected"] + question["found"])
        expected, found = (binarizer.transform(question[name]) for name in ("expected", "found"))
        return {
            "text": metrics.classification_report(
                expected, found, digits=question["digits"], target_names=list(binarizer.classes_)),
            "micro": metrics.f1_score(expected, found, average="micro"),
            "macro": metrics.f1_score(expected, found, average="macro"),
        }
    if question["kind"] == "correlation":
        return {"pearson": stats.pearsonr(question["x"], question["y"])[0],
                "spearman": stats.spearmanr(question["x"], question["y"])[0]}
    scores, gains = np.array(question["scores"]), np.array(question["gains"])
    relevant = (gains > 0).astype(int)
    return {"average precision": metrics.average_precision_score(relevant, scores),
            "label ranking": metrics.label_ranking_average_precision_score([relevant], [scores]),
            "ndcg": metrics.ndcg_score([gains], [scores]),
            "ndcg at 3": metrics.ndcg_score([gains], [scores], k=3)}


with open(sys.argv[1]) as file:
    questions = json.load(file)
with open(sys.argv[2], "w") as file:
    json.dump([answer(question) for question in questions], file)
